import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { JsonObject } from "../../src/contract/values.ts";
import { PARENT_TOOLS } from "../../src/mcp/tools/tools.ts";
import { openPlace } from "../cli/support/place.ts";
import { withClaude } from "../support/claude/claude.ts";
import { permitMessage, post } from "../support/mcp/raw-mcp.ts";
import { fromResult, readResults, script, startScriptedModel } from "../support/model/scripted-model.ts";
import { openWire } from "./wire.ts";

setDefaultTimeout(60_000);

const INPUT = { command: "touch made-by-child", description: "what is asked" };
const Init = z.looseObject({ type: z.literal("system"), subtype: z.literal("init"), tools: z.array(z.string()) });

test("Claude Code supervises with what plexus connect writes: it has every tool, waits, and decides", async () => {
  await using place = await openPlace();
  await using wire = openWire(place.server.url);
  await using model = startScriptedModel();
  const home = join(place.scratch, "home");
  const configDir = join(home, ".claude");
  mkdirSync(configDir, { recursive: true });
  const joined = await place.plexus(["connect", "claude", "--yes", "--url", wire.url], {
    env: { HOME: home, CLAUDE_CONFIG_DIR: configDir, PLEXUS_TOKEN: place.token },
  });
  expect(joined).toMatchObject({ exitCode: 0, stderr: "" });

  const prompt = script([
    use("loopback_configure", { name: "by-hand" }),
    // Longer than this test may take, so the wait must be woken.
    use("loopback_wait", { session_id: fromResult(0, "session_id"), timeout_secs: 100 }),
    use("loopback_respond", { approval_id: fromResult(1, "approvals", 0, "id"), approve: true }),
  ]);
  const args = ["--allowedTools", "mcp__plexus"];
  await withClaude({ model, prompt, home, args, permissionTool: null }, async (run) => {
    await wire.calls("loopback_wait");
    const configured = await run.line("the child's token", (line) => CHILD_TOKEN.test(JSON.stringify(line)));
    const token = CHILD_TOKEN.exec(JSON.stringify(configured))?.[1] ?? "";
    const permit = await post(place.server.url, permitMessage(INPUT, { toolUseId: "toolu_asked" }), { token });
    expect(JSON.parse(await permit.answer())).toEqual({ behavior: "allow", updatedInput: INPUT });

    const { exitCode, text, permissionDenials } = await run.result();
    expect({ exitCode, permissionDenials }).toEqual({ exitCode: 0, permissionDenials: [] });
    const results = readResults(text).map(({ content }) => JsonObject.parse(JSON.parse(content)));
    expect(results).toMatchObject([
      { type: "ok" },
      { type: "ok", approvals: [{ session_name: "by-hand", tool_name: "Bash", input: INPUT }] },
      { type: "ok", status: "allowed" },
    ]);
    const [init] = run.lines.flatMap((line) => Init.safeParse(line).data ?? []);
    expect(init?.tools).toEqual(expect.arrayContaining(PARENT_TOOLS.map(({ name }) => `mcp__plexus__${name}`)));
  });
  expect(wire.revisions()).toEqual(["2026-07-28"]);
});

const CHILD_TOKEN = /Bearer (plx_[\w-]+)/;

function use(tool: string, input: Record<string, unknown>) {
  return { use: [{ name: `mcp__plexus__${tool}`, input }] };
}
