import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Approval } from "../../src/contract/approvals/approval.ts";
import { get, permitMessage, post } from "../support/mcp/raw-mcp.ts";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

const operator = { kind: "operator" } as const;
let plexus: Plexus;
beforeAll(async () => {
  plexus = await startPlexus();
});
afterAll(() => plexus[Symbol.asyncDispose]());

const pendingOf = (sessionId: string, count = 1, server = plexus): Promise<Approval[]> =>
  until(`${count} pending`, async () => {
    const approvals = (await server.app.approvals.pending(operator, sessionId, 1_000)).approvals;
    return approvals.length === count ? approvals : undefined;
  });

describe("loopback_permit", () => {
  test("sends an id to resume by, a retry time and progress before the decision", async () => {
    const child = await plexus.child();
    const call = await post(plexus.url, permitMessage({ command: "ls" }, { id: 7 }), child);
    const [approval] = await pendingOf(child.sessionId);
    expect(call.headers.get("content-type")).toBe("text/event-stream");
    const first = await call.next();
    expect(first).toMatchObject({ retry: "10000", message: undefined });
    expect(first?.id).toMatch(new RegExp(`^${approval?.id}~[.][\\w-]{12}~7$`));
    const progress = (await call.next())?.message;
    expect(progress).toMatchObject({ method: "notifications/progress", params: { progressToken: 7, progress: 1 } });
    await plexus.app.approvals.decide(operator, approval?.id ?? "", { approve: true });
    expect(await call.answer()).toBe('{"behavior":"allow","updatedInput":{"command":"ls"}}');
    expect(await call.next()).toBeUndefined();
  });

  test("repeats its progress far more often than Claude Code requires", async () => {
    expect(plexus.app.progressEveryMs).toBeLessThanOrEqual(60_000);
    await using patient = await startPlexus({ clocks: { progressEveryMs: 5 } });
    const child = await patient.child();
    const call = await post(patient.url, permitMessage({ command: "ls" }, { id: 7 }), child);
    await call.next();
    for (const progress of [1, 2, 3, 4])
      expect((await call.next())?.message).toMatchObject({ method: "notifications/progress", params: { progress } });
    const [approval] = await pendingOf(child.sessionId, 1, patient);
    await patient.app.approvals.decide(operator, approval?.id ?? "", { approve: true });
    expect(await call.answer()).toContain("allow");
  });

  test("accepts requests without a tool_use_id, and never merges two of them", async () => {
    const child = await plexus.child();
    const calls = [1, 2].map((id) => post(plexus.url, permitMessage({ command: "ls" }, { id }), child));
    const approvals = await pendingOf(child.sessionId, 2);
    expect(approvals.map((approval) => approval.tool_use_id)).toEqual([null, null]);
    const [first, second] = approvals;
    await plexus.app.approvals.decide(operator, first?.id ?? "", { approve: true });
    await plexus.app.approvals.decide(operator, second?.id ?? "", { approve: false });
    const answers = await Promise.all(calls.map(async (call) => JSON.parse(await (await call).answer()).behavior));
    expect(answers.sort()).toEqual(["allow", "deny"]);
  });

  test("answers fifty parallel requests of one child in any order, each with its own decision", async () => {
    const child = await plexus.child();
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    const calls = numbers.map((id) =>
      post(plexus.url, permitMessage({ n: id }, { id, toolUseId: `toolu_${id}` }), child),
    );
    const approvals = await pendingOf(child.sessionId, 50);
    const shuffled = approvals.toSorted((a, b) => a.id.slice(-6).localeCompare(b.id.slice(-6)));
    await Promise.all(
      shuffled.map(({ id, input }) =>
        plexus.app.approvals.decide(operator, id, { approve: false, message: `no ${input["n"]}` }),
      ),
    );
    for (const [number, call] of calls.entries()) {
      expect(JSON.parse(await (await call).answer())).toEqual({ behavior: "deny", message: `no ${number}` });
    }
  });

  test("attaches a repeated call to the same approval until its decision is delivered; after that it is new", async () => {
    const child = await plexus.child();
    const message = permitMessage({ command: "make", cwd: "/" }, { toolUseId: "toolu_same" });
    const reordered = permitMessage({ cwd: "/", command: "make" }, { toolUseId: "toolu_same", id: 2 });
    const first = await post(plexus.url, message, child);
    const [approval] = await pendingOf(child.sessionId);
    const second = await post(plexus.url, reordered, child);
    expect((await second.next())?.id).toMatch(new RegExp(`^${approval?.id}~[.][\\w-]{12}~2$`));
    await plexus.app.approvals.decide(operator, approval?.id ?? "", { approve: false, message: "not now" });
    const told = '{"behavior":"deny","message":"not now"}';
    expect(await first.answer()).toBe(told);
    expect(await second.answer()).toBe(told);
    const later = await post(plexus.url, message, child);
    const [fresh] = await pendingOf(child.sessionId);
    expect((await later.next())?.id).toStartWith(`${fresh?.id}~`);
    expect(fresh?.id).not.toBe(approval?.id);
    await plexus.app.approvals.decide(operator, fresh?.id ?? "", { approve: true });
    expect(await later.answer()).toContain('"behavior":"allow"');
  });

  test("treats the same tool_use_id with another input or tool as another request", async () => {
    const child = await plexus.child();
    const asked = permitMessage({ command: "ls" }, { toolUseId: "toolu_one" });
    const otherInput = permitMessage({ command: "rm" }, { toolUseId: "toolu_one", id: 2 });
    const otherTool = JSON.parse(JSON.stringify(asked).replace('"Bash"', '"Read"'));
    const calls = await Promise.all([asked, otherInput, otherTool].map((message) => post(plexus.url, message, child)));
    await pendingOf(child.sessionId, 3);
    for (const call of calls) call.disconnect();
  });

  test("refuses arguments that it can't read, in one JSON text and without structured content", async () => {
    const child = await plexus.child();
    const message = permitMessage({});
    const broken = JSON.parse(JSON.stringify(message).replace('"input":{}', '"input":"rm -rf /"'));
    const call = await post(plexus.url, broken, child);
    const result = (await call.next())?.message?.result;
    expect(result).toMatchObject({ isError: true });
    expect(result).not.toHaveProperty("structuredContent");
    expect(JSON.parse(result?.content?.[0]?.text ?? "")).toMatchObject({ type: "error", code: "invalid_arguments" });
  });
});

describe("a child's connection", () => {
  test("gets an error at once for the probe of a newer protocol", async () => {
    const child = await plexus.child();
    const call = await post(plexus.url, { jsonrpc: "2.0", id: 0, method: "server/discover", params: {} }, child);
    await call.next();
    expect((await call.next())?.message?.error?.code).toBe(-32601);
  });

  test("gets 405 for a plain GET, which would lose its permits in a crash", async () => {
    const child = await plexus.child();
    expect((await get(plexus.url, child)).status).toBe(405);
  });

  test("resumes by the event id, also with another server on the same data dir", async () => {
    await using directory = await temporaryDirectory();
    const resumeWith = async (child: { token: string }, id: string) => {
      await using later = await startPlexus({ dataDir: directory.path });
      const resumed = await get(later.url, { ...child, headers: { "last-event-id": id } });
      expect((await resumed.next())?.id).toBe(id);
      expect((await resumed.next())?.message?.params).toMatchObject({ progressToken: 3 });
      await later.app.approvals.decide(operator, id.split("~")[0] ?? "", { approve: true });
      return resumed.answer();
    };
    const { child, id } = await askAndStop(directory.path);
    expect(await resumeWith(child, id)).toBe('{"behavior":"allow","updatedInput":{"command":"ls"}}');
  });

  test("can't resume another child's request", async () => {
    const [one, other] = [await plexus.child(), await plexus.child()];
    const call = await post(plexus.url, permitMessage({ command: "ls" }), one);
    const id = (await call.next())?.id ?? "";
    expect((await get(plexus.url, { ...other, headers: { "last-event-id": id } })).status).toBe(404);
    call.disconnect();
  });

  test("that stays away too long leaves its request abandoned, and a repeat opens a new one", async () => {
    await using own = await startPlexus({ clocks: { abandonAfterMs: 30 } });
    const child = await own.child();
    const message = permitMessage({ command: "ls" }, { toolUseId: "toolu_gone" });
    const call = await post(own.url, message, child);
    const [approval] = await pendingOf(child.sessionId, 1, own);
    call.disconnect();
    const status = async () => (await own.app.approvals.get(operator, approval?.id ?? "")).status;
    await until("the ask to be abandoned", async () => (await status()) === "abandoned");
    const again = await post(own.url, message, child);
    const [second] = await pendingOf(child.sessionId, 1, own);
    expect(second?.id).not.toBe(approval?.id);
    again.disconnect();
  });
});

/** Makes a request with RPC id 3 on a server that stops while it waits. */
async function askAndStop(dataDir: string): Promise<{ child: { token: string }; id: string }> {
  await using earlier = await startPlexus({ dataDir });
  const child = await earlier.child();
  const call = await post(earlier.url, permitMessage({ command: "ls" }, { id: 3 }), child);
  return { child, id: (await call.next())?.id ?? "" };
}
