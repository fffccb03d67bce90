import { describe, expect, test } from "bun:test";
import { type Listener, listen, listenBeside, PortInUse } from "../../src/http/listener.ts";

const anyPort = { host: "127.0.0.1", port: 0, idleSecs: 60 };
const saying = (text: string) => () => new Response(text);

describe("listen", () => {
  test("keeps requests waiting until there is a handler", async () => {
    await using listener = listen(anyPort);
    const answer = call(listener);
    await someTurns();
    expect(Bun.peek.status(answer)).toBe("pending");
    listener.answerWith(saying("here"));
    expect(await answer).toBe("here");
    expect(await call(listener)).toBe("here");
  });

  test("refuses the port of another server, even if that one would share it", async () => {
    await using listener = listen(anyPort);
    expect(() => listen({ ...anyPort, port: listener.port })).toThrow(PortInUse);
    listener.answerWith(saying("still here"));
    expect(await call(listener)).toBe("still here");
  });
});

describe("a server that hands over its port", () => {
  test("answers its own requests, and leaves later ones to the server beside it", async () => {
    await using old = listen(anyPort);
    const release = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    old.answerWith(async () => {
      entered.resolve();
      await release.promise;
      return new Response("old");
    });
    const before = call(old);
    await entered.promise;
    await using next = listenBeside({ ...anyPort, port: old.port });
    await old.refuse();
    const answered = old.answered();
    const after = Array.from({ length: 20 }, () => call(next));
    next.answerWith(saying("next"));
    expect(new Set(await Promise.all(after))).toEqual(new Set(["next"]));
    expect(Bun.peek.status(answered)).toBe("pending");
    release.resolve();
    await answered;
    expect(await before).toBe("old");
  });

  test("does not wait forever for a request without an answer", async () => {
    await using listener = listen(anyPort);
    const entered = Promise.withResolvers<void>();
    listener.answerWith(() => {
      entered.resolve();
      return new Promise(() => {});
    });
    const answer = call(listener).catch(() => "cut off");
    await entered.promise;
    await listener.refuse();
    await listener.answered();
    await listener[Symbol.asyncDispose]();
    expect(await answer).toBe("cut off");
  });
});

/** Waits for some rounds of the event loop. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

async function call({ port }: Listener): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } });
  return response.text();
}
