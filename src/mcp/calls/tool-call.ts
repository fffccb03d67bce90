import { isJSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject } from "../../contract/values.ts";
import { canonicalName } from "../tools/declaration/names.ts";
import { Token, type Waiting } from "./event-id.ts";

export type CalledTool = Waiting & { tool: string; arguments: unknown };

/** The tool call in a message; `undefined` for any other message. */
export function toolCallIn(message: unknown): CalledTool | undefined {
  // Check the method before parsing: most messages are no tool calls, and parsing costs more than everything else here.
  if (!isJsonObject(message) || message["method"] !== "tools/call") return undefined;
  if (!isJSONRPCRequest(message) || !message.params) return undefined;
  const { name, arguments: given, _meta: meta }: Record<string, unknown> = message.params;
  if (typeof name !== "string") return undefined;
  const progressToken = isJsonObject(meta) ? Token.safeParse(meta["progressToken"]).data : undefined;
  return { tool: canonicalName(name), id: message.id, arguments: given ?? {}, progressToken };
}
