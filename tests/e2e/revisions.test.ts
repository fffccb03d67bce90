import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openWire } from "../clients/wire.ts";
import { withClaude } from "../support/claude/claude.ts";
import { readResults, type ScriptedModel, script, startScriptedModel } from "../support/model/scripted-model.ts";
import { untilIdle } from "../support/processes/idle.ts";
import { startKillableServer } from "../support/server/killable-server.ts";
import { startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(120_000);

const OPERATOR = { kind: "operator" } as const;
const touch = (file: string) => ({ name: "Bash", input: { command: `touch ${file}`, description: "test" } });
const plain = (url: string) => ({ mcpServers: { plexus: { type: "http", url: `${url}/mcp?session_id=plain` } } });

let model: ScriptedModel;
beforeAll(() => {
  model = startScriptedModel();
});
afterAll(() => model[Symbol.asyncDispose]());

describe("the real CLI at a server without tokens", () => {
  test("speaks 2026-07-28, runs what is allowed, and reads why it was denied", async () => {
    await using plexus = await startPlexus({ flags: { auth: "none" } });
    await using wire = openWire(plexus.url);
    const prompt = script([{ use: [touch("allowed")] }, { use: [touch("denied")] }]);
    await withClaude({ model, prompt, mcpConfig: plain(wire.url) }, async (run) => {
      for (const decision of [{ approve: true }, { approve: false, message: "not this one" }]) {
        const { id } = await until("the ask", async () => {
          const { approvals } = await plexus.app.approvals.pending(OPERATOR, undefined, 1);
          return approvals[0];
        });
        await plexus.app.approvals.decide(OPERATOR, id, decision);
      }
      const { text, exitCode } = await run.result();
      expect(exitCode).toBe(0);
      expect(text).toContain("not this one");
      expect(["allowed", "denied"].map((file) => existsSync(join(run.cwd, file)))).toEqual([true, false]);
    });
    expect(wire.revisions()).toEqual(["2026-07-28"]);
  });

  test("waits through a kill -9, and gets the decision of the next server", async () => {
    await using server = await startKillableServer({ args: ["--auth", "none"] });
    const prompt = script([{ use: [touch("made")] }]);
    await withClaude({ model, prompt, mcpConfig: plain(server.url) }, async (run) => {
      const { id } = await server.ask();
      await server.restart();
      await until("it to come back", () => server.log().some((line) => line.includes("request resumed")), 30_000);
      await untilIdle(run.pid);
      expect(existsSync(join(run.cwd, "made"))).toBe(false);
      await server.call("loopback_respond", { approval_id: id, approve: true });
      const { text } = await run.result();
      expect(readResults(text)).toMatchObject([{ is_error: false }]);
      expect(existsSync(join(run.cwd, "made"))).toBe(true);
    });
  });
});

test("the real CLI with a child's token stays on 2025-11-25", async () => {
  await using plexus = await startPlexus();
  await using wire = openWire(plexus.url);
  const { token } = await plexus.child();
  const headers = { Authorization: `Bearer ${token}` };
  const mcpConfig = { mcpServers: { plexus: { type: "http", url: `${wire.url}/mcp`, headers } } };
  await withClaude({ model, prompt: script([{ say: "Nothing to do." }]), mcpConfig }, async (run) => {
    expect((await run.result()).exitCode).toBe(0);
  });
  expect(wire.revisions()).toEqual(["2025-11-25"]);
});
