import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { Connection } from "../../../src/mcp/calls/connection.ts";
import { readCallEventId } from "../../../src/mcp/calls/event-id.ts";
import { openCall } from "../../../src/mcp/calls/open-call.ts";
import type { ToolApp } from "../../../src/mcp/tools/declaration/tool.ts";

/** The code under test uses nothing else of the app. */
const app = { progressEveryMs: 20_000 } as ToolApp;

function opened({ progressToken }: { progressToken?: string } = { progressToken: "token" }) {
  const stop = new AbortController();
  const never = new AbortController().signal;
  const sent: { progress: number; message?: string | undefined }[] = [];
  const ids: string[] = [];
  const connection = new Connection({ gone: never, revoked: never, stopping: stop.signal }, (id) => void ids.push(id));
  const call = openCall({
    app,
    principal: { kind: "operator" },
    client: undefined,
    tool: "loopback_wait",
    id: 7,
    progressToken,
    connection,
    cancelled: never,
    send: async ({ params }) => void sent.push(params),
  });
  return { call, stop, sent, ids };
}

describe("a call that waits", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("reports progress immediately and every 20 s until it is answered", () => {
    const { call, sent } = opened();
    jest.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
    call.waits();
    expect(sent).toHaveLength(1);
    jest.advanceTimersByTime(60_000);
    expect(sent.map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
    call[Symbol.dispose]();
    jest.advanceTimersByTime(60_000);
    expect(sent).toHaveLength(4);
    expect(jest.getTimerCount()).toBe(0);
  });

  test("keeps counting up, whatever its tool counts", () => {
    const { call, sent } = opened();
    call.waits();
    for (const count of [0, 5, 5, 3]) call.progress(count, "so far");
    jest.advanceTimersByTime(20_000);
    expect(sent.map(({ progress }) => progress)).toEqual([1, 2, 5, 6, 7, 8]);
    call[Symbol.dispose]();
  });

  test("reports nothing to a caller that asked for no progress", () => {
    const { call, sent } = opened({});
    call.waits();
    jest.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
    call[Symbol.dispose]();
  });

  test("sends the id by which it resumes, with the newest state", () => {
    const { call, ids } = opened();
    call.waits({ since: 1 });
    call.waits({ since: 2 });
    const begun = { tool: "loopback_wait", id: 7, progressToken: "token" };
    expect(ids.map(readCallEventId)).toEqual([
      { ...begun, state: { since: 1 } },
      { ...begun, state: { since: 2 } },
    ]);
    call[Symbol.dispose]();
  });

  test("is overdue two seconds after the server begins to stop, not earlier", async () => {
    const { call, stop } = opened();
    jest.advanceTimersByTime(60_000);
    stop.abort();
    jest.advanceTimersByTime(1_999);
    expect(Bun.peek.status(call.overdue)).toBe("pending");
    jest.advanceTimersByTime(1);
    expect(Bun.peek.status(call.overdue)).toBe("fulfilled");
    call[Symbol.dispose]();
    expect(jest.getTimerCount()).toBe(0);
  });

  test("is never overdue once it waits, because it then answers by itself", () => {
    const { call, stop } = opened();
    call.waits();
    stop.abort();
    jest.advanceTimersByTime(60_000);
    expect(Bun.peek.status(call.overdue)).toBe("pending");
    call[Symbol.dispose]();
    expect(jest.getTimerCount()).toBe(0);
  });
});
