import { z } from "zod";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import type { JsonObject } from "../../contract/values.ts";

/** What the CLI says of itself when it begins. */
export const InitFact = z.object({
  claudeSessionId: z.string(),
  model: z.string(),
  version: z.string(),
  /** How its connection to us stands; `undefined` when it wasn't told of us. */
  plexusStatus: z.string().optional(),
});
export type InitFact = z.infer<typeof InitFact>;

/** What the CLI says when it is done. The cost is the total of the whole conversation, the tokens are this turn's. */
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
  permissionDenials: z.array(z.unknown()),
});
export type ResultFact = z.infer<typeof ResultFact>;

/** One finished content block of the top-level conversation. */
export type ConversationBlock = { role: "assistant" | "user"; content: JsonObject };

/** What a child's own output can tell; the other events come from the server. */
export type TurnEventDraft =
  | Extract<TurnEvent, { type: "content" | "thinking" | "tool_use" | "passthrough" }>
  | ToolResultDraft;
/** What became of a call; which decision it had, its child can't tell. */
export type ToolResultDraft = Omit<Extract<TurnEvent, { type: "tool_result" }>, "approval_id" | "unasked">;

export type Parsed = {
  events: TurnEventDraft[];
  facts: { init?: InitFact; result?: ResultFact; blocks: ConversationBlock[] };
};
