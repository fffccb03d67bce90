import { z } from "zod";
import { InitFact, ResultFact } from "./facts.ts";

const Streamed = z.object({ kind: z.enum(["text", "thinking"]), index: z.int(), chars: z.int() });
const ParserState = z.object({
  streamed: z.object({ messageId: z.string(), blocks: z.array(Streamed) }),
  toolUseIds: z.array(z.string()),
  pieces: z.int(),
  answers: z.object({ count: z.int(), lastId: z.string() }).optional(),
});

/** How far a child's output has been read, with everything that another process needs to continue. */
export const Checkpoint = z.object({
  offset: z.int().nonnegative(),
  parser: ParserState.optional(),
  init: InitFact.optional(),
  result: ResultFact.optional(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;
