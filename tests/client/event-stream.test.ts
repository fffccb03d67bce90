import { afterEach, describe, expect, test } from "bun:test";
import { createEventStream } from "../../src/client/event-stream.ts";
import { Refused } from "../../src/contract/refusals/refused.ts";

const over: AbortController[] = [];
afterEach(() => {
  for (const one of over.splice(0)) one.abort();
});

type Connection = (lastEventId: string | undefined) => string | Refused;

/** A stream over connections, each of which sends this text and then breaks. */
function streamOver(connections: Connection[], options: { endsWithResponse?: boolean; lastEventId?: string } = {}) {
  const controller = new AbortController();
  over.push(controller);
  const opened: (string | undefined)[] = [];
  const gapless: boolean[] = [];
  const lost: unknown[] = [];
  const events = createEventStream({
    ...options,
    signal: controller.signal,
    onOpen: (isGapless) => gapless.push(isGapless),
    onLost: (cause) => {
      lost.push(cause);
      if (connections.length === 0) throw new Error("no more connections");
    },
    open: async ({ headers }) => {
      const lastEventId = headers["Last-Event-ID"];
      opened.push(lastEventId);
      const answer = connections.shift()?.(lastEventId);
      if (answer instanceof Refused) throw answer;
      return new Response(answer ?? "");
    },
  });
  return { events, opened, gapless, lost };
}

/** The events until the stream ends for any reason. */
async function all(events: AsyncGenerator<unknown>): Promise<unknown[]> {
  const found: unknown[] = [];
  try {
    for await (const event of events) found.push(event);
  } catch {}
  return found;
}

describe("the event stream", () => {
  test("continues after the last event when the connection broke, and reports whether events may be missing", async () => {
    const { events, opened, gapless } = streamOver([
      () => 'id: 1\ndata: "one"\n\nid: 2\ndata: "two"\n\n',
      () => 'id: 3\ndata: "three"\n\n',
    ]);
    expect(await all(events)).toEqual(["one", "two", "three"]);
    expect(opened).toEqual([undefined, "2"]);
    expect(gapless).toEqual([false, true]);
  });

  test("begins after the last event of an earlier reader", async () => {
    const { events, opened, gapless } = streamOver([() => ": hello\n\n"], { lastEventId: "7" });
    await all(events);
    expect({ opened, gapless }).toEqual({ opened: ["7"], gapless: [true] });
  });

  test("is open as soon as anything arrives, and not before", async () => {
    const { events, gapless, lost } = streamOver([() => "", () => ": hello\n\n"]);
    await all(events);
    expect({ gapless, lost: lost.length }).toEqual({ gapless: [false], lost: 2 });
  });

  test("begins anew if the server no longer knows its position", async () => {
    const unknown = new Refused(422, "invalid_arguments", "no such event");
    const { events, opened, gapless, lost } = streamOver([
      () => "id: 1\ndata: 1\n\n",
      (lastEventId) => (lastEventId === undefined ? "" : unknown),
      () => "id: 1\ndata: 2\n\n",
    ]);
    expect(await all(events)).toEqual([1, 2]);
    expect(opened).toEqual([undefined, "1", undefined]);
    expect(gapless).toEqual([false, false]);
    expect(lost).toContain(unknown);
  });

  test("reconnects after the server has dropped it, even if the end of the response is the end of the events", async () => {
    const { events, opened } = streamOver(
      [
        () => 'id: 1\ndata: 1\n\nevent: dropped\ndata: {"type":"dropped"}\n\nid: 9\ndata: 9\n\n',
        () => "id: 2\ndata: 2\n\n",
      ],
      { endsWithResponse: true },
    );
    expect(await all(events)).toEqual([1, 2]);
    expect(opened).toEqual([undefined, "1"]);
  });

  test("ends with the listener's exception", async () => {
    const { events } = streamOver([]);
    expect(events.next()).rejects.toThrow("no more connections");
  });

  test("skips an event without an id, and continues after one that is not JSON", async () => {
    const { events } = streamOver([() => "data: 0\n\nid: 1\ndata: {\n\nid: 2\ndata: 2\n\n"]);
    expect(await all(events)).toEqual([undefined, 2]);
  });
});
