import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findProcess } from "../../../src/claude/process/processes.ts";
import { isRunning } from "../../support/processes/processes.ts";
import { type MortalFamily, startMortalFamily } from "../../support/server/outage.ts";
import { bash, eventsOf, textOf } from "../../support/sessions/told-events.ts";
import { expectTidy, expectWhole, report } from "../../support/sessions/whole-turn.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

const NO_OUTPUT = "(Bash completed with no output)";

describe("a child that ended while no server ran", () => {
  test("is found at the next start, with all that it said", async () => {
    await using family = await startMortalFamily();
    await family.create("quick");
    await family.chat("quick", [{ say: "said to nobody", waitFor: "the outage" }]);
    await until("the model to be asked", () => family.model.requests.length > 0);
    await family.kill();
    family.model.release("the outage");
    await until("the child to end", () => family.children().length === 0);
    await family.start();
    expectWhole(await family.ended("quick"), { text: "said to nobody", calls: [] });
    await expectTidy(family);
    await family.chat("quick", [{ say: "and on" }]);
    expect(textOf((await family.ended("quick")).events)).toBe("and on");
  });

  test("and failed is reported with its reason", async () => {
    await using family = await startMortalFamily();
    // Without a server no request could be answered.
    await family.create("unlucky", { supervision: "inherit" });
    await family.chat("unlucky", [
      { use: [bash("echo one", "toolu_one")], waitFor: "the outage" },
      { status: 400, message: "the scripted refusal" },
    ]);
    await until("the model to be asked", () => family.model.requests.length > 0);
    await family.kill();
    family.model.release("the outage");
    await until("the child to end", () => family.children().length === 0);
    await family.start();
    const { status, last, events } = await family.ended("unlucky");
    expect([status, last]).toEqual([
      "failed",
      { type: "error", message: expect.stringContaining("the scripted refusal") },
    ]);
    expect(eventsOf(events, "tool_result")).toMatchObject([{ tool_use_id: "toolu_one", output: "one" }]);
    await expectTidy(family);
  });
});

describe("a turn whose child can't be adopted fails with the reason, abandons its request, and leaves nothing behind", () => {
  test("when another program has its pid, which is not touched", async () => {
    await using family = await startMortalFamily();
    const child = await asking(family);
    await using stranger = sleeper();
    doctor(family, { pid: stranger.pid, process_start: child.process_start });
    await family.start();
    await expectFailed(family);
    expect(isRunning(stranger.pid)).toBe(true);
  });

  test("when it was started in another boot of the machine", async () => {
    await using family = await startMortalFamily();
    const child = await asking(family);
    const process_start = child.process_start.replace(/@.*/, "@00000000");
    expect(findProcess(child.pid)?.startTime).not.toBe(process_start);
    doctor(family, { ...child, process_start });
    await family.start();
    await expectFailed(family);
  });

  test("when its files are gone", async () => {
    await using family = await startMortalFamily();
    await asking(family);
    for (const turn of readdirSync(family.turnsDir)) rmSync(join(family.turnsDir, turn), { recursive: true });
    await family.start();
    await expectFailed(family);
  });

  test("when it was never started", async () => {
    await using family = await startMortalFamily();
    await asking(family);
    await until("the child to be gone", () => {
      for (const { pid } of family.children()) process.kill(pid, "SIGKILL");
      return family.children().length === 0;
    });
    doctor(family, { pid: null, process_start: null });
    await family.start();
    await expectFailed(family);
  });
});

test("a child whose process was not noted before the server was killed is adopted by its mark", async () => {
  await using family = await startMortalFamily();
  const id = await family.create("unnoted");
  await family.chat("unnoted", [{ use: [bash("touch made", "toolu_made")] }]);
  const ask = await family.heldAsk(id);
  await family.kill();
  doctor(family, { pid: null, process_start: null });
  await family.start();
  await family.allow(ask);
  const text = report({ toolu_made: NO_OUTPUT });
  expectWhole(await family.ended("unnoted"), { text, calls: ["toolu_made"] });
  await expectTidy(family);
});

test("no file contains the child's token once the child has read it, even after a kill of the server", async () => {
  await using family = await startMortalFamily();
  await family.create("young");
  await family.chat("young", [{ hang: true }]);
  const [turnId = ""] = readdirSync(family.turnsDir);
  const config = join(family.turnsDir, turnId, "mcp.json");
  expect(existsSync(config)).toBe(true);
  await family.kill();
  expect(existsSync(config)).toBe(true);
  await family.start();
  await until("the config to go", () => !existsSync(config));
  // The child has read its config before it starts, even if it found no server.
  expect(readFileSync(join(family.turnsDir, turnId, "stdout.jsonl"), "utf8")).toContain('"subtype":"init"');
  await family.call("claudecode_cancel", { name: "young" });
  await expectTidy(family);
});

test("the next start removes what a killed server left of ended turns", async () => {
  await using family = await startMortalFamily();
  await family.create("over");
  await family.chat("over", [{ say: "done" }]);
  await family.ended("over");
  await family.kill();
  await Bun.write(join(family.turnsDir, Bun.randomUUIDv7(), "mcp.json"), "a token");
  await family.start();
  await expectTidy(family);
});

/** Lets a child make a request, kills the server, and returns what the server noted about the child's process. */
async function asking(family: MortalFamily): Promise<{ pid: number; process_start: string }> {
  const id = await family.create("lost");
  await family.chat("lost", [{ use: [bash("touch never")] }]);
  await family.ask(id);
  await family.kill();
  using db = new Database(join(family.dataDir, "plexus.db"));
  const query = db.query<{ pid: number; process_start: string }, []>("SELECT pid, process_start FROM turns");
  const noted = query.get();
  if (!noted) throw new Error("no turn is on disk");
  return noted;
}

function doctor(family: MortalFamily, { pid, process_start }: { pid: number | null; process_start: string | null }) {
  using db = new Database(join(family.dataDir, "plexus.db"));
  db.query("UPDATE turns SET pid = ?, process_start = ?").run(pid, process_start);
}

async function expectFailed(family: MortalFamily): Promise<void> {
  const { status, last, events } = await family.ended("lost");
  expect([status, last]).toEqual([
    "failed",
    { type: "error", message: expect.stringMatching(/without an exit code.*killed.*restarted/s) },
  ]);
  expect(eventsOf(events, "approval_resolved")).toMatchObject([{ status: "abandoned" }]);
  expect(family.children()).toEqual([]);
  expect(existsSync(join(family.place, "never"))).toBe(false);
  await expectTidy(family);
}

/** A process of the test's own. */
function sleeper() {
  const sleeping = Bun.spawn(["sleep", "1000"]);
  return {
    pid: sleeping.pid,
    async [Symbol.asyncDispose]() {
      sleeping.kill("SIGKILL");
      await sleeping.exited;
    },
  };
}
