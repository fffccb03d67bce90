import { z } from "zod";
import { InitFact, ResultFact } from "./facts.ts";

const Streamed = z.object({ kind: z.enum(["text", "thinking"]), index: z.int(), chars: z.int() });
const ParserState = z.object({
  streamed: z.object({ messageId: z.string(), blocks: z.array(Streamed) }),
  toolUseIds: z.array(z.string()),
  pieces: z.int(),
});

/** How far a child's output has been read, and all that is needed to read on from there in another process. */
export const Reading = z.object({
  offset: z.int().nonnegative(),
  parser: ParserState.optional(),
  init: InitFact.optional(),
  result: ResultFact.optional(),
});
export type Reading = z.infer<typeof Reading>;
