import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sitOut, waitingOverStdio } from "../../soak/crash/outage.ts";
import type { Approval } from "../../src/contract/approvals/approval.ts";
import { readResults } from "../support/model/scripted-model.ts";
import { startMortalFamily } from "../support/server/outage.ts";
import { bash, eventsOf, type Family, startFamily } from "../support/sessions/family.ts";
import { expectTidy } from "../support/sessions/whole-turn.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(180_000);

/** Longer than a child on http stays away before it gives up. */
const OUTAGE_MS = 12_000;

describe("a managed child whose carrier is stdio", () => {
  let family: Family;
  beforeAll(async () => {
    family = await startFamily();
  });
  afterAll(() => family[Symbol.asyncDispose]());

  test("runs what was allowed, as it was asked or as it was edited, and not what was denied", async () => {
    const id = await family.create("carried", { carrier: "stdio" });
    const commands = ["touch allowed", "touch denied", "touch original"];
    await family.start("carried", [...commands.map((command) => ({ use: [bash(command)] })), { say: "done" }]);
    await family.respond(await family.ask(id), { approve: true });
    await family.respond(await family.ask(id), { approve: false, message: "not that one" });
    const last = await family.ask(id);
    await family.respond(last, { approve: true, updated_input: { ...last.input, command: "touch edited" } });
    const { status, events } = await family.ended("carried");
    expect(status).toBe("complete");
    expect(eventsOf(events, "tool_result").map(({ output }) => output)[1]).toBe("not that one");
    const made = ["allowed", "denied", "original", "edited"].filter((name) => existsSync(join(family.place, name)));
    expect(made).toEqual(["allowed", "edited"]);
  });

  test("takes its carrier along when it is cancelled", async () => {
    const id = await family.create("cancelled", { carrier: "stdio" });
    await family.start("cancelled", [{ use: [bash("touch never")] }]);
    const asked = await family.ask(id);
    expect(family.children().filter(({ command }) => command.includes("--carrier"))).toHaveLength(1);
    await family.call("claudecode_cancel", { name: "cancelled" });
    expect(family.children()).toEqual([]);
    expect(await family.statusOf(asked)).toBe("abandoned");
  });

  test("is kept with the session, http unless told", async () => {
    await family.create("plain");
    expect((await family.call("claudecode_get", { name: "plain" })).config).toMatchObject({ carrier: "http" });
    expect((await family.call("claudecode_get", { name: "carried" })).config).toMatchObject({ carrier: "stdio" });
  });
});

test("a managed child over stdio outlives the server, and gets its decision after a long outage", async () => {
  await using family = await startMortalFamily();
  const id = await family.create("patient", { carrier: "stdio" });
  await family.chat("patient", [{ use: [bash("touch patient", "toolu_first")] }, { use: [bash("touch again")] }]);
  const asked = await family.ask(id);
  await family.crash(OUTAGE_MS);
  await family.allow(asked);
  await family.allow(await until("a further ask", async () => other(asked, await family.ask(id))));
  const turn = await family.ended("patient");
  expect(turn.status).toBe("complete");
  expect(eventsOf(turn.events, "approval_requested")).toHaveLength(2);
  expect(["patient", "again"].map((name) => existsSync(join(family.place, name)))).toEqual([true, true]);
  await expectTidy(family);
});

describe("a permit of the real CLI over stdio, when the server is killed with kill -9", () => {
  test("is held for longer than one over http could be, and asks once", async () => {
    expect(await sitOut({ outageMs: OUTAGE_MS })).toEqual({ outageMs: OUTAGE_MS, violations: [] });
  });

  test("gets a decision that was made just before", () =>
    waitingOverStdio(async ({ server, run, madeFile }) => {
      const init = await run.line("system/init", ({ subtype }) => subtype === "init");
      expect(init).toMatchObject({ mcp_servers: [{ name: "plexus", status: "connected" }] });
      const asked = await server.ask();
      await server.call("loopback_respond", { approval_id: asked.id, approve: true });
      await server.restart();
      expect((await run.result()).exitCode).toBe(0);
      expect(existsSync(madeFile)).toBe(true);
      expect(await server.approvals()).toHaveLength(1);
    }));

  test("runs nothing while no server comes back, and nothing when the next one denies it", () =>
    waitingOverStdio(async ({ server, run, madeFile }) => {
      const asked = await server.ask();
      for (let kills = 0; kills < 3; kills++) await server.restart();
      expect(existsSync(madeFile)).toBe(false);
      await server.call("loopback_respond", { approval_id: asked.id, approve: false, message: "no" });
      expect(readResults((await run.result()).text)).toMatchObject([{ content: "no" }]);
      expect(existsSync(madeFile)).toBe(false);
    }));

  test("is refused when its token is not known to the next server", () =>
    waitingOverStdio(async ({ server, run, madeFile }) => {
      await server.ask();
      await server.restart(join(server.dataDir, "..", "other"));
      const outcome = await run.result();
      expect(outcome.text).not.toContain("allow");
      expect(existsSync(madeFile)).toBe(false);
      await until("nobody to ask", async () => (await server.approvals()).length === 0);
    }));
});

function other(known: Approval, found: Approval): Approval | undefined {
  return found.id === known.id ? undefined : found;
}
