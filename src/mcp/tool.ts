import type { z } from "zod";
import type { App, Principal } from "../app.ts";
import type { JsonObject } from "../schema/values.ts";

type Annotations = {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
};
export type Tool = {
  name: string;
  title: string;
  description: string;
  input: z.ZodType;
  annotations: Annotations;
};
export type ToolCall = {
  app: App;
  principal: Principal;
  signal: AbortSignal;
  /** Tells a caller that asked for it how far things are; a larger number each time. */
  progress(count: number, message: string): void;
};
export type RunnableTool = Tool & { run(call: ToolCall, input: unknown): Promise<JsonObject> };

/** Keeps a tool's arguments and what it does with them of one type. */
export function tool<Input extends z.ZodType>(
  definition: Tool & { input: Input; run(call: ToolCall, input: z.infer<Input>): Promise<JsonObject> },
): RunnableTool {
  return { ...definition, run: (call, input) => definition.run(call, definition.input.parse(input)) };
}
