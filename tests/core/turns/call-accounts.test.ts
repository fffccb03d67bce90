import { describe, expect, test } from "bun:test";
import type { ToolResultDraft } from "../../../src/claude/output/facts.ts";
import type { ApprovalStatus } from "../../../src/contract/approvals/approval.ts";
import type { Supervision } from "../../../src/contract/sessions/supervision.ts";
import { hashOf } from "../../../src/core/approvals/request-hash.ts";
import { interpreted, mustAsk } from "../../../src/core/turns/call-accounts.ts";
import { newApproval, newSession } from "../../storage/rows.ts";
import { openDirect } from "../../storage/sqlite/support/direct.ts";
import { unchainedOutcome } from "../../storage/sqlite/support/sqlite-rows.ts";
import { temporaryStorage } from "../../storage/sqlite/support/temporary-storage.ts";

type Settled = Exclude<ApprovalStatus, "pending">;
const call = { tool_name: "Bash", tool_use_id: "call_0", input: { command: "make" } };
const ran: ToolResultDraft = { type: "tool_result", tool_use_id: "call_0", output: "made", is_error: false };
const refused: ToolResultDraft = { ...ran, output: "no", is_error: true };

describe("a call's result", () => {
  test("is tied to the allow, whatever happened to other requests with the same id", async () => {
    for (const before of ["abandoned", "denied", "timed_out", "pending"] as const) {
      await using setup = await openSetup();
      await setup.file("1", before);
      await setup.file("2", "allowed");
      expect(await setup.account(ran)).toMatchObject({ events: [{ approval_id: "2" }], unasked: [] });
    }
  });

  test("uses up its allow: a second result with the same id is unasked", async () => {
    await using setup = await openSetup();
    await setup.file("1", "allowed");
    expect(await setup.account(ran)).toMatchObject({ events: [{ approval_id: "1" }], unasked: [] });
    const again = await setup.account(ran);
    expect(again).toMatchObject({ events: [{ approval_id: null, unasked: true }], unasked: [{ toolName: "Bash" }] });
    expect(setup.unasked()).toBe(1);
  });

  test("is tied to the denial of the call, or is unasked if the call ran anyway", async () => {
    await using setup = await openSetup();
    await setup.file("1", "denied");
    expect(await setup.account(refused)).toMatchObject({ events: [{ approval_id: "1" }], unasked: [] });
    await setup.file("2", "denied");
    expect(await setup.account(ran)).toMatchObject({ unasked: [{ toolUseId: "call_0", input: call.input }] });
  });

  test.each([
    "<tool_use_error>Error: No such tool available: Nope</tool_use_error>",
    "Permission to use Bash with command rm x has been denied.",
    "PreToolUse:Bash hook error: no",
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit)",
  ])("is not unasked if the CLI says that it did not run the call: %s", async (output) => {
    await using setup = await openSetup();
    expect((await setup.account({ ...refused, output })).unasked).toEqual([]);
    expect((await setup.account({ ...refused, output: `Exit code 1\n${output}` })).unasked).toHaveLength(1);
  });

  test("is not unasked if it is an error of a tool that does all or nothing", async () => {
    await using setup = await openSetup("Write");
    const output = "Refusing to write link.txt: it is a symbolic link";
    expect((await setup.account({ ...refused, output })).unasked).toEqual([]);
    expect((await setup.account(ran)).unasked).toHaveLength(1);
  });

  test("of an MCP tool is never taken for a refusal of the CLI", async () => {
    await using setup = await openSetup("mcp__other__poke");
    const output = "<tool_use_error>File has not been read yet.</tool_use_error>";
    expect((await setup.account({ ...refused, output })).unasked).toHaveLength(1);
  });

  test("is not checked in a turn of an earlier version, or of a child that can't ask", async () => {
    await using earlier = await openSetup("Bash", { isAccounted: false });
    expect((await earlier.account(ran)).unasked).toEqual([]);
    await using silent = await openSetup("Bash", { loopback_enabled: false });
    expect((await silent.account(ran)).unasked).toEqual([]);
  });
});

/** A running turn whose child has made one call. */
async function openSetup(
  tool_name = call.tool_name,
  { isAccounted = true, loopback_enabled = true, supervision = "strict" as Supervision } = {},
) {
  const storage = await temporaryStorage();
  const config = {
    working_dir: "/",
    model: null,
    system_prompt: null,
    loopback_enabled,
    loopback_timeout_secs: 300,
    supervision,
    allowed_tools: [],
    disallowed_tools: [],
    add_dirs: [],
    mcp_servers: {},
    max_turns: null,
    max_budget_usd: null,
    carrier: "http" as const,
    metadata: {},
  };
  const session = newSession({ kind: "managed", config });
  const direct = openDirect(storage.dataDir);
  direct.sessions.create(session);
  const { id: sessionId, owner } = session;
  const checkpoint = { offset: 0 };
  const turn = direct.turns.createIfNoneRuns({
    id: "turn",
    sessionId,
    owner,
    ephemeral: false,
    startedAt: 1,
    checkpoint,
  });
  direct.turns.appendEventsIfRunning("turn", [{ type: "tool_use", ...call, tool_name }], 1);
  if (!turn) throw new Error("there is no turn");
  return {
    async file(id: string, status: Settled | "pending") {
      const { tool_name: toolName, input, tool_use_id: toolUseId } = call;
      // A different hash for each: an equal pending request would be the same one.
      const askHash = hashOf(toolName, { ...input, id });
      direct.approvals.create(newApproval({ id, askedIn: "turn", toolName, input, toolUseId, askHash }));
      if (status !== "pending") direct.approvals.settleIfPending(id, unchainedOutcome({ status }));
    },
    async account(draft: ToolResultDraft) {
      const known = { ...turn, isAccounted };
      const events = await interpreted(storage, turn.id, [draft]);
      const output = { events, blocks: [], checkpoint, mustAsk: mustAsk(known, session) };
      const unasked = await storage.turns.appendIfRunning(known, output, 1);
      return { events: [direct.turns.events(turn.id, 0, 100).at(-1)?.event], unasked };
    },
    unasked: () => direct.turns.get("turn")?.unasked,
    async [Symbol.asyncDispose]() {
      direct[Symbol.dispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}
