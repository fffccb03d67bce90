import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeStandIn } from "../support/claude/stand-in.ts";
import { type MortalFamily, startMortalFamily } from "../support/server/outage.ts";
import { bash } from "../support/sessions/told-events.ts";
import { expectTidy } from "../support/sessions/whole-turn.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(120_000);

const WITHIN_MS = 10_000;
const LINGERING = "tail -f /dev/null";
/**
 * Ignores an interrupt if the prompt says `deaf`. Starts one process in the tree and one in a process session of its
 * own.
 */
const STAND_IN = `read -r how; [ "$how" = deaf ] && trap '' INT; setsid ${LINGERING} & ${LINGERING} & wait; wait`;
const PROCESSES_OF_ONE = 4;

describe.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s", (signal) => {
  test("stops eight children with all their processes, even one that ignores interrupts, and the server within 10 s", async () => {
    await using directory = await temporaryDirectory();
    await using family = await startMortalFamily({ claude: writeStandIn(directory.path, STAND_IN) });
    const names = Array.from({ length: 8 }, (_, at) => `child-${at}`);
    for (const [at, name] of names.entries()) {
      await family.create(name);
      await family.call("claudecode_chat_async", { name, prompt: at === 0 ? "deaf\n" : "hearing\n" });
    }
    await until("all of them to run", () => family.children().length === names.length * PROCESSES_OF_ONE);
    await expectStopped(family, signal);
    await family.start();
    for (const name of names) await expectCancelled(family, name);
    await expectTidy(family);
  });
});

test("SIGTERM ends the real CLI while it streams, while its tool runs, and while it waits for a decision", async () => {
  await using family = await startMortalFamily();
  await family.create("streaming");
  await family.create("working", { allowed_tools: ["Bash"] });
  const asking = await family.create("asking");
  await family.chat("streaming", [{ say: Array.from({ length: 500 }, (_, at) => `word ${at} `), delayMs: 50 }]);
  await family.chat("working", [{ use: [bash(LINGERING)] }]);
  await family.chat("asking", [{ use: [bash("touch never")] }]);
  await family.told("streaming", (events) => events.some(({ type }) => type === "content"));
  await until("the tool to run", () => family.children().some(({ command }) => command === LINGERING));
  const ask = await family.ask(asking);
  await expectStopped(family, "SIGTERM");
  await family.start();
  for (const name of ["streaming", "working", "asking"]) await expectCancelled(family, name);
  const { value } = await family.parent.call("loopback_get", { approval_id: ask.id });
  expect(value).toMatchObject({ approval: { status: "abandoned" } });
  await expectTidy(family);
});

async function expectStopped(family: MortalFamily, signal: NodeJS.Signals): Promise<void> {
  const start = performance.now();
  expect(await family.stop(signal)).toBe(0);
  expect(performance.now() - start).toBeLessThan(WITHIN_MS);
  expect(family.children().map(({ command }) => command)).toEqual([]);
}

async function expectCancelled(family: MortalFamily, name: string): Promise<void> {
  const { status, last } = await family.ended(name);
  expect([name, status, last]).toEqual([
    name,
    "cancelled",
    { type: "error", message: "Plexus was stopped while this turn ran." },
  ]);
}
