import type { Context } from "hono";
import type { Env } from "../middleware/auth.ts";
import { allowSilence } from "./silence.ts";

const encoder = new TextEncoder();

/** Answers with one JSON document per line. */
export function answerLines(c: Context<Env>, lines: AsyncGenerator<unknown>): Response {
  allowSilence(c);
  const body = new ReadableStream<Uint8Array>({
    // A failure breaks the connection, so that a partial result doesn't look complete.
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
    cancel: () => void lines.return(undefined),
  });
  return new Response(body, { headers: { "content-type": "application/jsonl" } });
}
