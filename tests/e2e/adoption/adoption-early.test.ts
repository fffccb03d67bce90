import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { type MortalFamily, startMortalFamily } from "../../support/server/outage.ts";
import { bash, eventsOf, textOf } from "../../support/sessions/told-events.ts";
import { askedFor, expectTidy, expectWhole, report } from "../../support/sessions/whole-turn.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(180_000);

const LINGERING = "tail -f /dev/null";
const NO_OUTPUT = "(Bash completed with no output)";
/** Longer than a write waits for the lock. */
const LOCKED_MS = 3_500;

describe("an adopted child, as soon as the server is back,", () => {
  test("has its session's only turn", async () => {
    await using family = await startMortalFamily();
    await working(family);
    await family.crash();
    const second = await family.parent.call("claudecode_chat_async", { name: "working", prompt: "more" });
    expect(second).toMatchObject({ isError: true, value: { code: "turn_running" } });
  });

  test("can be cancelled, and leaves no process", async () => {
    await using family = await startMortalFamily();
    await working(family);
    await family.crash();
    expect(await family.call("claudecode_cancel", { name: "working" })).toMatchObject({ type: "cancelled" });
    expect(family.children()).toEqual([]);
    expect(await family.ended("working")).toMatchObject({ status: "cancelled" });
    await family.chat("working", [{ say: "going on" }]);
    expect(textOf((await family.ended("working")).events)).toBe("going on");
    await expectTidy(family);
  });

  test("can be deleted with its session", async () => {
    await using family = await startMortalFamily();
    const id = await working(family);
    await family.crash();
    expect(await family.call("claudecode_delete", { name: "working" })).toEqual({ type: "deleted", id });
    expect(family.children()).toEqual([]);
    expect((await family.call("claudecode_streams", {})).streams).toEqual([]);
    await expectTidy(family);
  });
});

test("a turn that streams and makes requests is complete after ten killed servers", async () => {
  await using family = await startMortalFamily();
  const id = await family.create("tried");
  const words = (part: string) => Array.from({ length: 90 }, (_, at) => `${part}${at} `);
  // Each request waits until the test releases it: without a server it would fail, as it should.
  await family.chat("tried", [
    { say: words("a"), delayMs: 40, use: [bash("echo a", "toolu_a")] },
    { use: [bash("touch one", "toolu_one")], waitFor: "one" },
    { say: words("b"), delayMs: 40, use: [bash("echo b", "toolu_b")] },
    { use: [bash("touch two", "toolu_two")], waitFor: "two" },
    { say: "the end" },
  ]);
  for (const word of ["a10 ", "a30 ", "a50 "]) await killAfter(word);
  await allowAfterKills("one");
  for (const word of ["b10 ", "b30 ", "b50 "]) await killAfter(word);
  await allowAfterKills("two");

  const turn = await family.ended("tried");
  const calls = ["toolu_a", "toolu_one", "toolu_b", "toolu_two"];
  expectWhole(turn, { text: [...words("a"), ...words("b"), "the end"].join(""), calls });
  expect(eventsOf(turn.events, "tool_result").map(({ output }) => output)).toEqual(["a", NO_OUTPUT, "b", NO_OUTPUT]);
  expect(eventsOf(turn.events, "approval_resolved")).toHaveLength(2);
  expect(askedFor(family, id)).toEqual(["toolu_one", "toolu_two"]);
  await expectTidy(family);

  async function killAfter(word: string): Promise<void> {
    await family.told("tried", (events) => textOf(events).includes(word));
    await family.crash();
  }

  /** Two kills within the time that a child stays away: it comes back to the last server. */
  async function allowAfterKills(name: string): Promise<void> {
    family.model.release(name);
    const ask = await family.heldAsk(id);
    await family.crash();
    await family.crash();
    await family.allow(ask);
    const isDone = (events: TurnEvent[]) => eventsOf(events, "tool_result").at(-1)?.tool_use_id === ask.tool_use_id;
    await family.told("tried", isDone);
  }
});

test("a child's words while the database can't be written are stored afterwards, complete and once", async () => {
  await using family = await startMortalFamily();
  const id = await family.create("patient");
  const words = Array.from({ length: 100 }, (_, at) => `word ${at} `);
  await family.chat("patient", [{ say: words, delayMs: 50, use: [bash("touch made", "toolu_made")] }]);
  await family.told("patient", (events) => textOf(events).includes("word 10 "));
  {
    using db = new Database(join(family.dataDir, "plexus.db"));
    // The server may be in a write of its own.
    db.run("PRAGMA busy_timeout = 5000");
    db.run("BEGIN IMMEDIATE");
    await Bun.sleep(LOCKED_MS);
    db.run("ROLLBACK");
  }
  await family.allow(await family.ask(id));
  const text = `${words.join("")}${report({ toolu_made: NO_OUTPUT })}`;
  expectWhole(await family.ended("patient"), { text, calls: ["toolu_made"] });
  expect(family.server.log.some((line) => line.includes("holds the database locked"))).toBe(true);
  await expectTidy(family);
});

/** A session whose child runs a tool in its own process session. */
async function working(family: MortalFamily): Promise<string> {
  const id = await family.create("working", { allowed_tools: ["Bash"] });
  await family.chat("working", [{ use: [bash(LINGERING)] }]);
  await until("the tool to run", () => family.children().some(({ command }) => command === LINGERING));
  return id;
}
