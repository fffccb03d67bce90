import { z } from "zod";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import type { JsonObject } from "../../contract/values.ts";

/** The CLI's report at its start. */
export const InitFact = z.object({
  claudeSessionId: z.string(),
  model: z.string(),
  version: z.string(),
  /** The state of its connection to Plexus; `undefined` if it has none. */
  plexusStatus: z.string().optional(),
});
export type InitFact = z.infer<typeof InitFact>;

/** The CLI's report at its end. The cost is that of the whole conversation; tokens and model turns are this turn's. */
export const ResultFact = z.object({
  subtype: z.string(),
  is_error: z.boolean(),
  errors: z.array(z.string()),
  text: z.string(),
  claudeSessionId: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  numTurns: z.number(),
  totalCostUsd: z.number(),
  /** The cost of the conversation before this turn; older CLI versions don't report it. */
  costBeforeUsd: z.number().optional(),
  permissionDenials: z.array(z.unknown()),
});
export type ResultFact = z.infer<typeof ResultFact>;

/** One finished content block of the top-level conversation. */
export type ConversationBlock = { role: "assistant" | "user"; content: JsonObject };

/** Events from a child's output; all others come from the server. */
export type TurnEventDraft =
  | Extract<TurnEvent, { type: "content" | "thinking" | "tool_use" | "passthrough" }>
  | ToolResultDraft;
/** The result of a call, without its approval, which the child's output does not contain. */
export type ToolResultDraft = Omit<Extract<TurnEvent, { type: "tool_result" }>, "approval_id" | "unasked">;

export type Parsed = {
  events: TurnEventDraft[];
  facts: { init?: InitFact; result?: ResultFact; blocks: ConversationBlock[] };
};
