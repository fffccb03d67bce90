import { describe, expect, test } from "bun:test";
import { eventsIn } from "../../src/contract/event-stream.ts";

/** A response that arrives in these pieces. */
function responseOf(...pieces: (string | Uint8Array)[]) {
  const isCancelled = Promise.withResolvers<boolean>();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
    },
    cancel: () => isCancelled.resolve(true),
  });
  return { response: new Response(body), isCancelled: isCancelled.promise };
}

describe("eventsIn", () => {
  test("reads complete events, wherever the response is split, even inside a character", async () => {
    const bytes = new TextEncoder().encode(
      "id: 1\r\nevent: said\ndata: für\ndata: alle\n\n: a comment\n\nid: 2\ndata: {}\n\n",
    );
    for (const at of bytes.keys()) {
      const { response } = responseOf(bytes.slice(0, at), bytes.slice(at));
      expect(await Array.fromAsync(eventsIn(response))).toEqual([
        { id: "1", event: "said", data: "für\nalle" },
        { id: "2", event: undefined, data: "{}" },
      ]);
    }
  });

  test("reports every sign of life, comments included", async () => {
    let heard = 0;
    const { response } = responseOf(": still here\n\n", "data: 1\n\n", ": still here\n\n");
    const events = await Array.fromAsync(eventsIn(response, () => heard++));
    expect({ heard, data: events.map(({ data }) => data) }).toEqual({ heard: 3, data: ["1"] });
  });

  test("cancels the response when its reader stops before the end", async () => {
    const { response, isCancelled } = responseOf("data: 1\n\n", "data: 2\n\n", "data: 3\n\n");
    for await (const { data } of eventsIn(response)) if (data === "2") break;
    expect(await isCancelled).toBe(true);
  });
});
