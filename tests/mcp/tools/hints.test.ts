import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { TOOLS } from "../../../src/mcp/tools/tools.ts";
import { script } from "../../support/model/scripted-model.ts";
import { bash, startFamily } from "../../support/sessions/family.ts";

setDefaultTimeout(120_000);

const MINUTE_MS = 60_000;

/** Follows a hint: the hint must name the tool, and the tool must accept the call. */
function follower(parent: { call(tool: string, args?: object): Promise<{ isError: boolean; value: object }> }) {
  return async (hint: unknown, tool: string, args: object) => {
    expect(hint).toContain(tool);
    const { isError, value } = await parent.call(tool, args);
    expect({ tool, isError, value }).toEqual({ tool, isError: false, value });
    return value;
  };
}

test("every tool that our texts name exists", async () => {
  const names = TOOLS.operator.map(({ name }) => name);
  const settings = ["loopback_enabled", "loopback_timeout_secs", "loopback_approvals"];
  for await (const file of new Bun.Glob("**/*.{ts,tsx}").scan({ cwd: "src", absolute: true })) {
    const mentioned = (await Bun.file(file).text()).match(/\b(?:loopback|claudecode)_[a-z]+(?:_[a-z]+)*\b/g) ?? [];
    const unknown = mentioned.filter((name) => !names.includes(name) && !settings.includes(name));
    expect({ file, unknown }).toEqual({ file, unknown: [] });
  }
});

describe("what a result or a refusal advises", () => {
  test("works for a claude that was started by hand, whatever was tried", async () => {
    let passedMs = 0;
    await using family = await startFamily({ clocks: { now: () => Date.now() + passedMs } });
    const { parent, place } = family;
    const follow = follower(parent);
    const { value } = await parent.call("loopback_configure", { name: "hand" });
    const session_id = String(value["session_id"]);
    const session = await family.plexus.app.sessions.get(session_id);
    if (!session) throw new Error("the session was not made");

    const polled = (await parent.call("claudecode_poll", { name: "hand" })).value["next"];
    await follow(polled, "loopback_wait", { session_id, timeout_secs: 0 });
    const attempts: [string, object][] = [
      ["claudecode_chat", { name: "hand", prompt: "x" }],
      ["claudecode_fork", { name: "hand", new_name: "copy" }],
      ["claudecode_update", { name: "hand", model: "opus" }],
    ];
    for (const [at, [tool, args]] of attempts.entries()) {
      const { message } = (await parent.call(tool, args)).value;
      await follow(message, "claudecode_create", { name: `instead-${at}`, working_dir: place });
    }
    const taken = (await parent.call("claudecode_create", { name: "hand", working_dir: place })).value["message"];
    await follow(taken, "claudecode_get", { name: "hand" });

    const { approvalId } = await family.plexus.app.approvals.request(session, { tool_name: "Bash", input: {} });
    const asked = (await parent.call("claudecode_poll", { name: "hand" })).value;
    expect(asked["pending_approvals"]).toMatchObject([{ id: approvalId }]);
    await follow(asked["next"], "loopback_respond", { approval_id: approvalId, approve: false });

    passedMs = 11 * MINUTE_MS;
    const idle = (await parent.call("loopback_wait", { session_id })).value;
    expect(idle["type"]).toBe("idle");
    await follow(idle["next"], "loopback_configure", { session_id });
    expect((await parent.call("loopback_wait", { session_id, timeout_secs: 0 })).value["type"]).toBe("timeout");
  });

  test("works for a child that is idle, waits for a decision, runs, or has ended", async () => {
    await using family = await startFamily();
    const { parent } = family;
    const follow = follower(parent);
    const none = (await parent.call("loopback_wait")).value["next"];
    const asks = script([{ use: [bash("touch made")] }, { say: "done" }]);
    const run = { name: "worker", prompt: asks, working_dir: family.place };
    const waiting = Object(await follow(none, "claudecode_run", run));
    expect(waiting.status).toBe("awaiting_permission");
    const busy = (await parent.call("claudecode_chat", { name: "worker", prompt: "x" })).value["message"];
    const [{ id }] = waiting.pending_approvals;
    await follow(busy, "loopback_wait", { timeout_secs: 0 });
    const decided = Object(await follow(busy, "loopback_respond", { approval_id: id, approve: true }));
    const told = Object(await follow(decided.next, "loopback_wait", {}));
    expect(told.finished).toMatchObject([{ name: "worker", status: "complete" }]);
    const more = { session_id: told.finished[0].session_id, prompt: script([{ say: "more" }]) };
    expect(await follow(told.next, "claudecode_chat", more)).toMatchObject({ status: "complete" });
    const still = (await parent.call("loopback_wait", { session_id: more.session_id })).value;
    expect(still["type"]).toBe("idle");
    await follow(still["next"], "claudecode_chat", { ...more, prompt: script([{ hang: true }]), wait_secs: 0 });
    const running = (await parent.call("claudecode_chat", { name: "worker", prompt: "x" })).value["message"];
    expect(await follow(running, "claudecode_cancel", { name: "worker" })).toMatchObject({ type: "cancelled" });
    const idle = (await parent.call("claudecode_create", { name: "new", working_dir: family.place })).value["next"];
    await follow(idle, "claudecode_chat", { name: "new", prompt: script([{ say: "x" }]) });
  });

  test("works for the operator with the sessions of others", async () => {
    await using family = await startFamily();
    const follow = follower(family.parent);
    const { token } = await family.plexus.app.tokens.createNamed("other");
    const other = await family.plexus.connect(token);
    const work = { name: "theirs", prompt: script([{ say: "done" }]), working_dir: family.place };
    const { session_id } = (await other.call("claudecode_run", work)).value;
    const told = (await family.parent.call("loopback_wait", { timeout_secs: 60 })).value;
    expect(told["finished"]).toMatchObject([{ session_id, status: "complete" }]);
    const more = { session_id, prompt: script([{ say: "more" }]) };
    expect(await follow(told["next"], "claudecode_chat", more)).toMatchObject({ session_id, status: "complete" });
    await family.plexus.app.tokens.revoke("other");
    const { code, message } = (await family.parent.call("claudecode_chat", more)).value;
    expect(code).toBe("forbidden");
    await follow(message, "claudecode_fork", { name: session_id, new_name: "mine" });
    expect(await family.call("claudecode_chat", { ...more, session_id: null, name: "mine" })).toMatchObject({
      status: "complete",
    });
  });
});
