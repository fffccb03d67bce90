import { describe, expect, test } from "bun:test";
import { promptOrStreamed } from "../../../src/mcp/modern/late-answer.ts";

const nothing = () => {};
const error = { jsonrpc: "2.0", id: 1, error: { code: -32021, message: "no" } };

describe("an answer of 2026-07-28", () => {
  test("that comes promptly keeps its status and its form", async () => {
    const answer = await promptOrStreamed(Promise.resolve(Response.json(error, { status: 400 })), nothing);
    expect({ status: answer.status, body: await answer.json() }).toEqual({ status: 400, body: error });
  });

  test("that is late comes as the one event of a stream", async () => {
    const late = Promise.withResolvers<Response>();
    const answer = await promptOrStreamed(late.promise, nothing);
    expect({ status: answer.status, type: answer.headers.get("content-type") }).toEqual({
      status: 200,
      type: "text/event-stream",
    });
    late.resolve(Response.json(error, { status: 400 }));
    expect(await answer.text()).toBe(`event: message\ndata: ${JSON.stringify(error)}\n\n`);
  });

  test("that is late, and a stream, comes as it is", async () => {
    const late = Promise.withResolvers<Response>();
    const answer = await promptOrStreamed(late.promise, nothing);
    const events = "event: message\ndata: 1\n\nevent: message\ndata: 2\n\n";
    late.resolve(new Response(events, { headers: { "content-type": "text/event-stream" } }));
    expect(await answer.text()).toBe(events);
  });

  test("whose client is gone reports that, and is not sent", async () => {
    const late = Promise.withResolvers<Response>();
    const left = Promise.withResolvers<void>();
    const answer = await promptOrStreamed(late.promise, left.resolve);
    await answer.body?.cancel();
    await left.promise;
    late.resolve(Response.json(error));
  });

  test("of a handler that was closed before it was asked is 503", async () => {
    expect((await promptOrStreamed(Promise.reject(new Error("closed")), nothing)).status).toBe(503);
    const late = Promise.withResolvers<Response>();
    const answer = await promptOrStreamed(late.promise, nothing);
    late.reject(new Error("closed"));
    expect(await answer.text()).toBe("");
  });
});
