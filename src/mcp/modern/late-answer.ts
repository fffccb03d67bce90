import { SSE_HEADERS } from "../streams.ts";

/** Much shorter than a client waits for the first byte, and longer than most tools take. */
const PROMPT_MS = 100;
const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE = ": waiting\n\n";

const encoder = new TextEncoder();

/**
 * Returns the answer with its own status if it comes promptly; otherwise a stream that will carry it, so that the
 * client sees that it was heard. Calls `onGone` when the client closes the stream.
 */
export async function promptOrStreamed(answering: Promise<Response>, onGone: () => void): Promise<Response> {
  // The SDK answers every failure except one: a close before the request.
  const answer = answering.catch(() => new Response(null, { status: 503 }));
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, PROMPT_MS, undefined);
  const prompt = await Promise.race([answer, late]).finally(() => clearTimeout(timer));
  return prompt ?? new Response(streamed(answer, onGone), { headers: SSE_HEADERS });
}

function streamed(answer: Promise<Response>, onGone: () => void): ReadableStream<Uint8Array> {
  let isGone = false;
  return new ReadableStream({
    async start(controller) {
      const send = (chunk: Uint8Array) => {
        if (!isGone) controller.enqueue(chunk);
      };
      const keepAlive = setInterval(() => send(encoder.encode(KEEP_ALIVE)), KEEP_ALIVE_MS);
      const answered = await answer.finally(() => clearInterval(keepAlive));
      for await (const chunk of eventsOf(answered)) send(chunk);
      if (!isGone) controller.close();
    },
    cancel() {
      isGone = true;
      onGone();
    },
  });
}

/** An answer that is not a stream becomes one event. */
async function* eventsOf(answer: Response): AsyncGenerator<Uint8Array> {
  if (answer.headers.get("content-type")?.startsWith("text/event-stream")) {
    yield* answer.body ?? [];
    return;
  }
  const message = await answer.text();
  if (message !== "") yield encoder.encode(`event: message\ndata: ${message}\n\n`);
}
