import { z } from "zod";
import { Id, UnixSeconds } from "../values.ts";
import { SessionEvent } from "./session-view.ts";
import { TurnEvent } from "./turn.ts";

/** A match of a search in a session's transcript. */
export const TranscriptHit = z.strictObject({
  turn_id: Id,
  /** The event's number in its turn; for a text in several pieces, that of the first piece. */
  seq: SessionEvent.shape.seq,
  at: UnixSeconds.optional(),
  /** The type of the event; `start` is the prompt. */
  type: z.enum(TurnEvent.options.map(({ shape }) => shape.type.value)),
  /** The called tool. */
  tool_name: z.string().optional(),
  /** The first match with its surroundings, on one line. */
  excerpt: z.string(),
});
export type TranscriptHit = z.infer<typeof TranscriptHit>;
