import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import type { Approval } from "../../src/contract/approvals/approval.ts";
import { ApprovalList } from "../../src/contract/routes/approvals.ts";
import { TurnList } from "../../src/contract/routes/turns.ts";
import { UnaskedCallList } from "../../src/contract/routes/unasked-calls.ts";
import { RESULT_LINE, writeStandIn } from "../support/claude/stand-in.ts";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";
import { bash, eventsOf, type Family, startFamily } from "../support/sessions/family.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(120_000);

describe("what built-in rules decide", () => {
  test("needs no approval, notifies no one, and is on record with its result", async () => {
    await using family = await startFamily();
    const id = await family.create("reader");
    writeFileSync(join(family.place, "there.txt"), "what is there");
    const before = await newestChange(family);
    const { status, events } = await family.run("reader", [
      { use: [{ name: "Read", input: { file_path: join(family.place, "there.txt") }, id: "toolu_read" }] },
      { use: [bash("cat there.txt | head -1", "toolu_cat")] },
    ]);
    expect(status).toBe("complete");
    expect(eventsOf(events, "approval_requested")).toEqual([]);
    // Only the beginning and the end of the turn.
    expect((await newestChange(family)) - before).toBe(2);
    expect(await listed(family, "")).toEqual([]);
    const decided = await listed(family, "builtin=true");
    expect(decided.toReversed()).toMatchObject([
      { tool_name: "Read", status: "allowed", resolved_by: "builtin:read", session_id: id },
      { tool_name: "Bash", status: "allowed", resolved_by: "builtin:bash" },
    ]);
    const results = eventsOf(events, "tool_result");
    expect(results.map(({ approval_id }) => approval_id)).toEqual(decided.map(({ id }) => id).reverse());
    expect(results[1]?.output).toBe("what is there");
    expect(await (await family.plexus.fetch("/metrics")).text()).toContain("plexus_builtin_decisions_total 2");
    expect(await family.plexus.app.auditCheck.verify()).toMatchObject({ intact: true });
  });

  test("excludes commands in strict, and everything outside of the working directory", async () => {
    await using family = await startFamily();
    const id = await family.create("strict", { supervision: "strict" });
    await family.start("strict", [
      { use: [bash("ls", "toolu_ls")] },
      { use: [{ name: "Read", input: { file_path: "/etc/hostname" } }] },
    ]);
    for (const tool_name of ["Bash", "Read"]) {
      const asked = await family.ask(id);
      expect(asked).toMatchObject({ tool_name });
      await family.respond(asked, { approve: false });
    }
    expect((await family.ended("strict")).status).toBe("complete");
  });

  test("includes tools that a session allows by name, except commands, edits and network in strict", async () => {
    await using family = await startFamily();
    const allowed_tools = ["Bash(touch *)", "Write"];
    const turnsFor = (file: string) => [
      { use: [bash("touch one", "toolu_1")] },
      { use: [{ name: "Write", input: { file_path: join(family.place, file), content: "" }, id: "toolu_2" }] },
    ];
    await family.create("named", { allowed_tools });
    expect((await family.run("named", turnsFor("two"))).status).toBe("complete");
    expect(existsSync(join(family.place, "one")) && existsSync(join(family.place, "two"))).toBe(true);
    const by = (await listed(family, "builtin=true")).map(({ resolved_by }) => resolved_by);
    expect(by).toEqual(["builtin:allowed_tools", "builtin:allowed_tools"]);

    const id = await family.create("strict", { allowed_tools, supervision: "strict" });
    await family.start("strict", turnsFor("three"));
    for (const _ of ["touch", "Write"]) await family.respond(await family.ask(id), { approve: false });
    expect((await family.ended("strict")).status).toBe("complete");
  });
});

describe("another directory", () => {
  test("is forbidden to a child, because its calls could not be judged there", async () => {
    await using family = await startFamily();
    await family.create("away");
    Bun.spawnSync(["git", "init", "-q", family.place]);
    const agent = { description: "x", prompt: "y", subagent_type: "general-purpose", isolation: "worktree" };
    const { status, events } = await family.run("away", [
      { use: [{ name: "Agent", input: agent, id: "toolu_agent" }] },
      { use: [{ name: "EnterWorktree", input: { name: "x" }, id: "toolu_enter" }] },
    ]);
    expect(status).toBe("complete");
    expect(eventsOf(events, "tool_result")).toMatchObject([{ is_error: true }, { is_error: true }]);
    const [denied] = await listed(family, "builtin=true");
    expect(denied).toMatchObject({ tool_name: "Agent", status: "denied", resolved_by: "builtin:worktree" });
    expect(await family.plexus.app.auditCheck.verify()).toMatchObject({ intact: true });
  });
});

describe("one allow", () => {
  test("runs one call, though a gateway gives every call the same id", async () => {
    await using family = await startFamily();
    const id = await family.create("counted");
    const call = () => ({ use: [bash("echo once >> count.txt", "call_0")] });
    for (const decisions of [[true, false, false], [false], [true]]) {
      await family.start("counted", decisions.map(call));
      for (const approve of decisions) await family.respond(await family.ask(id), { approve });
      const { status, events } = await family.ended("counted");
      expect(status).toBe("complete");
      expect(eventsOf(events, "tool_use")).toHaveLength(decisions.length);
      const approvals = eventsOf(events, "tool_result").map(({ approval_id }) => approval_id);
      expect(new Set(approvals).size).toBe(decisions.length);
      expect(approvals).not.toContain(null);
    }
    expect(readFileSync(join(family.place, "count.txt"), "utf8")).toBe("once\nonce\n");
    expect(await listed(family, "status=allowed")).toHaveLength(2);
    expect(await listed(family, "status=denied")).toHaveLength(3);
  });
});

describe("a call that ran without permission", () => {
  test("is expected in inherit: it is marked, counted and listed, and the turn goes on", async () => {
    await using family = await startFamily();
    await family.create("free", { supervision: "inherit" });
    const { status, events } = await family.run("free", [
      { use: [bash("echo hello", "toolu_echo")] },
      { use: [{ name: "NoSuchTool", input: {}, id: "toolu_none" }] },
    ]);
    expect(status).toBe("complete");
    expect(eventsOf(events, "tool_result")).toMatchObject([
      { tool_use_id: "toolu_echo", approval_id: null, unasked: true },
      { tool_use_id: "toolu_none", approval_id: null, is_error: true },
    ]);
    // A call that the CLI itself refused did not run.
    expect(eventsOf(events, "tool_result")[1]?.unasked).toBeUndefined();
    const { calls } = await get(family, "/api/v1/unasked", UnaskedCallList);
    expect(calls).toMatchObject([{ tool_name: "Bash", supervision: "inherit", tool_input: { command: "echo hello" } }]);
    const turns = await get(family, "/api/v1/sessions/free/turns", TurnList);
    expect(turns.turns).toMatchObject([{ unasked: 1 }]);
  });
});

describe("a child that runs a call despite its seal", () => {
  const uses = { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "id" } };
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: "uid=0", is_error: false };
  const lines = [
    { type: "assistant", message: { id: "m", content: [uses] } },
    { type: "user", message: { content: [result] } },
  ].map((line) => `echo '${JSON.stringify(line)}'`);

  test.each(["strict", "default"] as const)(
    "is logged and reported; in strict it is stopped (%s)",
    async (supervision) => {
      await using directory = await temporaryDirectory();
      const waits = supervision === "strict" ? "sleep 600" : `echo '${RESULT_LINE}'`;
      const claude = writeStandIn(directory.path, [...lines, waits].join("\n"));
      const workingDir = join(directory.path, "work");
      mkdirSync(workingDir);
      await using plexus = await startPlexus({ flags: { claude } });
      const parent = await plexus.connect();
      const notified: unknown[] = [];
      parent.client.setNotificationHandler(
        LoggingMessageNotificationSchema,
        ({ params }) => void notified.push(params),
      );
      await parent.call("claudecode_create", { name: "broken", working_dir: workingDir, supervision });
      await parent.call("claudecode_chat", { name: "broken", prompt: "go", wait_secs: 60 });
      const { value } = await parent.call("claudecode_poll", { name: "broken", from_seq: 0 });
      const isStrict = supervision === "strict";
      expect(value["status"]).toBe(isStrict ? "failed" : "complete");
      const last = isStrict
        ? { type: "error", message: expect.stringContaining("had not allowed it") }
        : { type: "complete" };
      expect(value["events"]).toMatchObject([
        { event: { type: "start" } },
        { event: { type: "tool_use" } },
        { event: { type: "tool_result", approval_id: null, unasked: true } },
        { event: last },
      ]);
      expect(plexus.log.filter((line) => line.includes("the seal of its child is broken"))).toHaveLength(1);
      expect(await eventsUntil(plexus, "turn_ended")).toContain("event: unasked_call");
      await until("the approver to be told", () => JSON.stringify(notified).includes("unasked_call"));
      expect(await (await plexus.fetch("/metrics")).text()).toContain("plexus_unasked_calls_total 1");
    },
  );
});

/** All events from the beginning up to the first of this kind. */
async function eventsUntil(plexus: Plexus, kind: string): Promise<string> {
  const stop = new AbortController();
  const response = await plexus.fetch("/api/v1/events", { headers: { "last-event-id": "0" }, signal: stop.signal });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(`event: ${kind}`)) break;
  }
  stop.abort();
  return text;
}

async function newestChange({ parent }: Family): Promise<number> {
  const { value } = await parent.call("loopback_wait", { timeout_secs: 0 });
  return Number(value["cursor"]);
}

async function listed(family: Family, query: string): Promise<Approval[]> {
  return (await get(family, `/api/v1/approvals?${query}`, ApprovalList)).approvals;
}

async function get<T extends z.ZodType>(family: Family, path: string, answer: T): Promise<z.infer<T>> {
  return answer.parse(await (await family.plexus.fetch(path)).json());
}
