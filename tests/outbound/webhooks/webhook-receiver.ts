import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { ChangeEvent } from "../../../src/contract/change.ts";

export const SECRET = "a-secret-for-webhooks";

const Numbered = z.looseObject({ id: z.int().positive(), decide_url: z.url().optional() });

const Tested = z.strictObject({ type: z.literal("test"), at: z.int().positive() });

export type Received = { id: number; event: ChangeEvent; headers: Headers; text: string; path: string };

export type Receiver = AsyncDisposable & {
  url: string;
  /** Every request so far, whatever it was answered. */
  received: Received[];
  /** The bodies of test messages. */
  tests: string[];
  /** What the next ones are answered; a promise holds them. */
  answer: (received: Received) => Response | Promise<Response>;
  /** What a test message is answered. */
  answerTest: () => Response | Promise<Response>;
};

/** What somebody's webhook is: a server that takes posts and checks that they are whole and signed. */
export function startReceiver(port = 0): Receiver {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text();
      if (!isSigned(request.headers.get("x-plexus-signature"), text, SECRET))
        return new Response("not signed by Plexus", { status: 400 });
      if (Tested.safeParse(JSON.parse(text)).success) {
        receiver.tests.push(text);
        return receiver.answerTest();
      }
      // The link that decides is no part of the event: it is for this receiver alone.
      const { id, decide_url: _, ...event } = Numbered.parse(JSON.parse(text));
      const path = new URL(request.url).pathname;
      const one = { id, event: ChangeEvent.parse(event), headers: request.headers, text, path };
      receiver.received.push(one);
      return receiver.answer(one);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}/hook`,
    received: [],
    tests: [],
    answer: () => new Response(null, { status: 204 }),
    answerTest: () => new Response(null, { status: 204 }),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return receiver;
}

/** As docs/webhooks.md tells receivers to do it. */
export function isSigned(header: string | null, body: string, secret: string): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? [];
  if (!t || !v1 || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const expected = createHmac("sha256", secret).update(`${t}.${body}`).digest();
  return timingSafeEqual(expected, Buffer.from(v1, "hex"));
}
