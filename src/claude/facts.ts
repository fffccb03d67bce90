import type { TurnEvent } from "../schema/turn.ts";
import type { JsonObject } from "../schema/values.ts";

/** What the CLI says of itself when it begins. */
export type InitFact = {
  claudeSessionId: string;
  model: string;
  version: string;
  /** How its connection to us stands; `undefined` when it wasn't told of us. */
  plexusStatus: string | undefined;
};

/** What the CLI says when it is done. The cost is the total of the whole conversation, the tokens are this turn's. */
export type ResultFact = {
  subtype: string;
  is_error: boolean;
  errors: string[];
  text: string;
  claudeSessionId: string;
  inputTokens: number;
  outputTokens: number;
  numTurns: number;
  totalCostUsd: number;
  permissionDenials: unknown[];
};

/** One finished content block of the top-level conversation. */
export type ConversationBlock = { role: "assistant" | "user"; content: JsonObject };

/** What a child's own output can tell; the other events come from the server. */
export type TurnEventDraft = Extract<
  TurnEvent,
  { type: "content" | "thinking" | "tool_use" | "tool_result" | "passthrough" }
>;

export type Parsed = {
  events: TurnEventDraft[];
  facts: { init?: InitFact; result?: ResultFact; blocks: ConversationBlock[] };
};
