import { z } from "zod";
import { Id, UnixSeconds } from "../values.ts";
import { SessionEvent } from "./session-view.ts";
import { TurnEvent } from "./turn.ts";

/** A place in the transcript of a session where a text was found. */
export const TranscriptHit = z.strictObject({
  turn_id: Id,
  /** The number of the event in its turn; of a text that came in pieces, of its first piece. */
  seq: SessionEvent.shape.seq,
  at: UnixSeconds.optional(),
  /** What kind of event it is: `start` is the prompt. */
  type: z.enum(TurnEvent.options.map(({ shape }) => shape.type.value)),
  /** The tool of a call. */
  tool_name: z.string().optional(),
  /** The first match, with what stands around it, as one line. */
  excerpt: z.string(),
});
export type TranscriptHit = z.infer<typeof TranscriptHit>;
