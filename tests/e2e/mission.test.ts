import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { plexusServer } from "../../src/contract/approvals/approval.ts";
import { JsonObject } from "../../src/contract/values.ts";
import { withClaude } from "../support/claude/claude.ts";
import { answerOf } from "../support/mcp/tool-answers.ts";
import { fromResult, readResults, script } from "../support/model/scripted-model.ts";
import { bash, startFamily, textOf } from "../support/sessions/family.ts";

setDefaultTimeout(120_000);

const tool = (name: string, input: Record<string, unknown>) => ({ use: [{ name: `mcp__plexus__${name}`, input }] });

test("a parent that is itself Claude Code makes a child, allows it one call, denies it another, and reads the end", async () => {
  await using family = await startFamily();
  const file_path = join(family.place, "mission.txt");
  const work = script([
    { use: [{ name: "Write", input: { file_path, content: "accomplished" } }] },
    { use: [bash("touch forbidden")] },
    { say: "The file is written, the other was forbidden." },
  ]);
  // Like any model, the parent's model takes the arguments of each call from earlier results.
  const prompt = script([
    tool("claudecode_create", { name: "child", working_dir: family.place }),
    tool("loopback_wait", { session_id: fromResult(0, "id"), timeout_secs: 0 }),
    tool("claudecode_chat_async", { session_id: fromResult(0, "id"), prompt: work }),
    tool("loopback_wait", { session_id: fromResult(0, "id"), since: fromResult(1, "cursor"), timeout_secs: 60 }),
    tool("loopback_respond", { approval_id: fromResult(3, "approvals", 0, "id"), approve: true }),
    tool("loopback_wait", { session_id: fromResult(0, "id"), since: fromResult(3, "cursor"), timeout_secs: 60 }),
    tool("loopback_respond", {
      approval_id: fromResult(5, "approvals", 0, "id"),
      approve: false,
      message: "only the file",
    }),
    tool("loopback_wait", { session_id: fromResult(0, "id"), since: fromResult(5, "cursor"), timeout_secs: 60 }),
    tool("claudecode_poll", { session_id: fromResult(7, "finished", 0, "session_id"), limit: 1000 }),
  ]);

  const { token } = await family.plexus.app.tokens.createNamed("parent");
  const mcpConfig = { mcpServers: { plexus: plexusServer(family.plexus.url, token) } };
  const args = ["--allowedTools", "mcp__plexus"];
  const outcome = await withClaude({ model: family.model, prompt, mcpConfig, args, permissionTool: null }, (run) =>
    run.result(90_000),
  );

  expect(outcome).toMatchObject({ exitCode: 0, permissionDenials: [] });
  const results = readResults(outcome.text).map(({ content }) => JsonObject.parse(JSON.parse(content)));
  expect(results).toMatchObject([
    { type: "created", name: "child" },
    { type: "idle" },
    { type: "started" },
    { type: "ok", approvals: [{ session_name: "child", tool_name: "Write", input: { file_path } }] },
    { type: "ok", status: "allowed" },
    { type: "ok", approvals: [{ tool_name: "Bash", input: { command: "touch forbidden" } }] },
    { type: "ok", status: "denied" },
    { type: "ok", finished: [{ name: "child", status: "complete" }] },
    { type: "ok", status: "complete", pending_approvals: [], has_more: false },
  ]);
  const { events } = answerOf("claudecode_poll", results.at(-1));
  expect(textOf(events.map(({ event }) => event))).toBe("The file is written, the other was forbidden.");
  expect(readFileSync(file_path, "utf8")).toBe("accomplished");
  expect(existsSync(join(family.place, "forbidden"))).toBe(false);

  const ids = z.array(z.string()).parse(results.flatMap(({ approval_id }) => approval_id ?? []));
  const decided = await Promise.all(ids.map((id) => family.plexus.app.approvals.get({ kind: "operator" }, id)));
  expect(decided).toMatchObject([
    { status: "allowed", resolved_by: "token:parent" },
    { status: "denied", resolved_by: "token:parent" },
  ]);
});
