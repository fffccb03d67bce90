import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { firstAndLast } from "../../support/alike-rows.ts";
import { script } from "../../support/model/scripted-model.ts";
import type { Process } from "../../support/processes/process-table.ts";
import { signal } from "../../support/processes/processes.ts";
import { bash, eventsOf, type Family, startFamily, textOf } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

describe("a child that is killed from outside fails its turn, abandons its request, and the session goes on", () => {
  test.each([
    ["the CLI", ["cli"], /SIGKILL.*in the middle of its work/],
    ["the shell and the CLI", ["shell", "cli"], /without an exit code/],
    ["the shell around the CLI", ["shell"], /without an exit code/],
  ] as const)("%s", async (_, killed, message) => {
    await using family = await startFamily();
    const id = await family.create("killed");
    await family.start("killed", [{ use: [bash("touch never")] }, { hang: true }]);
    const ask = await family.ask(id);
    const child = childOf(family);
    for (const which of killed) signal(child[which].pid, "SIGKILL");
    const turn = await family.ended("killed");
    expect(turn).toMatchObject({ status: "failed", last: { type: "error", message: expect.stringMatching(message) } });
    expect(await family.statusOf(ask)).toBe("abandoned");
    expect(eventsOf(turn.events, "approval_resolved")).toMatchObject([{ approval_id: ask.id, status: "abandoned" }]);
    expect(family.children()).toEqual([]);
    await expectGoingOn(family, "killed");
    expect(existsSync(join(family.place, "never"))).toBe(false);
  });
});

test("a session starts afresh if its child was killed before it had saved the conversation", async () => {
  await using family = await startFamily();
  const id = await family.create("unsaved");
  await family.start("unsaved", [{ use: [bash("touch never")] }]);
  await family.ask(id);
  const { cli } = childOf(family);
  signal(cli.pid, "SIGSTOP");
  rmSync(join(family.home, ".claude", "projects"), { recursive: true, force: true });
  signal(cli.pid, "SIGKILL");
  expect((await family.ended("unsaved")).status).toBe("failed");
  expect((await family.call("claudecode_get", { name: "unsaved" })).config.claude_session_id).toBeNull();
  await expectGoingOn(family, "unsaved");
});

describe("a model that fails", () => {
  let family: Family;
  beforeAll(async () => {
    family = await startFamily();
  });
  afterAll(() => family[Symbol.asyncDispose]());

  test.each(firstAndLast([400, 500, 529]).map((status) => [status, `the scripted ${status}`] as const))(
    "with %i fails the turn with what it said, and the session goes on",
    async (status, message) => {
      const name = `unlucky with ${status}`;
      const session_id = await family.create(name);
      const { value } = await family.parent.call("claudecode_chat", {
        name,
        prompt: script([{ status, message }]),
      });
      expect(value).toMatchObject({ type: "ok", status: "failed", error: expect.stringContaining(message) });
      const { last } = await family.ended(name);
      expect(last).toMatchObject({ type: "error", message: expect.stringContaining(message) });
      const { streams } = await family.call("claudecode_streams", { session_id });
      expect(streams).toMatchObject([{ status: "failed", error: expect.stringContaining(message) }]);
      await expectGoingOn(family, name);
    },
  );

  test("with a stream that breaks fails the turn, and the session goes on", async () => {
    await family.create("broken");
    const { status, last } = await family.run("broken", [{ cut: true }]);
    expect([status, last?.type]).toEqual(["failed", "error"]);
    await expectGoingOn(family, "broken");
  });

  test("by never answering lets the chat return, and can be cancelled", async () => {
    await family.create("hanging");
    const chat = await family.call("claudecode_chat", {
      name: "hanging",
      prompt: script([{ hang: true }]),
      wait_secs: 1,
    });
    expect(chat).toMatchObject({ status: "running", text: "", pending_approvals: [], usage: null });
    await until("the model to be asked", () => family.model.requests.some(({ turn }) => "hang" in turn));
    expect(await family.call("claudecode_poll", { name: "hanging" })).toMatchObject({ status: "running" });
    expect(await family.call("claudecode_cancel", { name: "hanging" })).toMatchObject({ type: "cancelled" });
    expect(family.children()).toEqual([]);
    await expectGoingOn(family, "hanging");
  });
});

/** The two processes of the only running child. */
function childOf(family: Family): { shell: Process; cli: Process } {
  const shell = family.children().find(({ command }) => command.startsWith("/bin/sh -c"));
  const cli = family.children().find(({ parent }) => parent === shell?.pid);
  if (!shell || !cli) throw new Error("no child runs");
  return { shell, cli };
}

async function expectGoingOn(family: Family, name: string): Promise<void> {
  const next = await family.run(name, [{ say: "going on" }]);
  expect(next).toMatchObject({ status: "complete", last: { type: "complete" } });
  expect(textOf(next.events)).toBe("going on");
}
