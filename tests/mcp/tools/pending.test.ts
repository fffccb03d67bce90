import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeEcho } from "../../support/claude/stand-in.ts";
import { answerOf } from "../../support/mcp/tool-answers.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

/** A caller who can decide, and a claude that was started by hand and makes this many requests. */
async function asked(count: number) {
  await using stack = new AsyncDisposableStack();
  const plexus = stack.use(await startPlexus());
  const parent = await plexus.connect();
  const session = await plexus.app.sessions.createByHand(OPERATOR, "worker");
  for (let at = 0; at < count; at++)
    await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: `touch file-${at}` } });
  const { value, text } = await parent.call("loopback_pending");
  await stack.disposeAsync();
  return { ...answerOf("loopback_pending", value), tokens: text.length / 4 };
}

describe("loopback_pending", () => {
  test("with many requests omits what the previous one of the session shows, as loopback_wait does", async () => {
    const { approvals, tokens } = await asked(60);
    expect(approvals).toHaveLength(60);
    expect(approvals[0]).toMatchObject({ session_name: "worker", status: "pending", session_id: expect.any(String) });
    for (const approval of approvals.slice(1)) {
      expect(approval).toMatchObject({ tool_name: "Bash", input: { command: expect.any(String) } });
      for (const key of ["session_id", "session_name", "status", "created_at", "expires_at", "suggested_rule"])
        expect(approval).not.toHaveProperty(key);
    }
    expect(tokens).toBeLessThan(3_000);
  });

  test("of a few says all of each", async () => {
    const { approvals } = await asked(5);
    for (const approval of approvals)
      expect(approval).toMatchObject({ status: "pending", created_at: expect.any(Number) });
  });

  test("suggests `decisions` for several requests", async () => {
    expect((await asked(1)).next).toBe("Decide with loopback_respond.");
    expect((await asked(2)).next).toContain("decisions");
  });

  test("without pending requests says whether waiting makes sense", async () => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus({ flags: { claude: writeEcho(directory.path) } });
    const parent = await plexus.connect();
    const next = async (args: object = {}) => (await parent.call("loopback_pending", args)).value["next"];
    expect(await next()).toBe("Nothing of yours runs or can ask. Give work with claudecode_run.");
    for (const name of ["idle", "busy"]) await parent.call("claudecode_create", { name, working_dir: directory.path });
    await parent.call("claudecode_chat_async", { name: "busy", prompt: "hang" });
    expect(await next()).toContain("Call loopback_wait");
    expect(await next({ session_id: "busy" })).toContain("Call loopback_wait");
    expect(await next({ session_id: "idle" })).toBe("It has had no turn. Give it work with claudecode_chat.");
    await parent.call("claudecode_cancel", { name: "busy" });
    expect(await next()).toContain("Give work with claudecode_run");
    expect(await next({ session_id: "busy" })).toContain("Its turn is over: claudecode_poll");
  });
});
