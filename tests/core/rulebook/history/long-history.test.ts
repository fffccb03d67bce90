import { describe, expect, test } from "bun:test";
import type { RuleDecision } from "../../../../src/contract/rules/rule.ts";
import { OPERATOR } from "../../open-core.ts";
import { type RuledPlexus, startRuled } from "../ruled.ts";
import { plantPast, variedCommand } from "./past-requests.ts";

const PAST = 100_000;
/** About twice what it takes; with a full reading of each call it is ten times as much. */
const MOST_OF_ITS_TEXT = 40;
/** As children ask: nearly all calls again and again, described in other words, and some only once. */
const COMMANDS = ["npm test", "npm run build", "git status", "git diff --stat", "touch src/a.ts", "mkdir -p build"];

/** Tries a rule; with the processor time that it took. */
async function tried({ app }: RuledPlexus, decision: RuleDecision, match: string) {
  const before = process.cpuUsage();
  const { decided } = await app.ruleHistory.test(OPERATOR, { decision, match });
  const { user, system } = process.cpuUsage(before);
  return { decided, seconds: (user + system) / 1e6 };
}

/** Reads and writes as much JSON as the past has, which tells how fast this machine is now. */
function secondsForItsText(): number {
  const input = { file_path: "/srv/project/src/f100.ts", old_string: "a".repeat(200), new_string: "b1000" };
  const before = process.cpuUsage();
  for (let at = 0; at < PAST; at++) JSON.parse(JSON.stringify({ ...input, at }));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** How often others have their turn until something is done. */
async function turnsDuring(done: Promise<unknown>): Promise<number> {
  let isOver = false;
  void done.finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns++) await new Promise(setImmediate);
  return turns;
}

describe("100,000 past requests", () => {
  test("that are mostly alike: a rule is tried in little more than it takes to read them", async () => {
    await using plexus = await startRuled();
    const { id: sessionId } = await plexus.session();
    plantPast({ dataDir: plexus.dataDir, sessionId }, PAST, (at) => {
      const isFile = at % 4 === 0;
      const path = `${plexus.place}/src/f${at % 500}.ts`;
      const command = at % 200 === 1 ? `touch src/${at}.ts` : (COMMANDS[at % COMMANDS.length] ?? "");
      return {
        tool: isFile ? "Edit" : "Bash",
        input: isFile
          ? { file_path: path, old_string: "a".repeat(200), new_string: `b${at % 3_000}` }
          : { command, description: `Step ${at % 50}` },
        status: at % 97 === 1 ? "denied" : "allowed",
      };
    });
    // A wide rule reads what nobody has read before.
    await tried(plexus, "allow", "*");
    let worst = 0;
    for (const [decision, match] of [
      ["allow", "Bash(npm run *)"],
      ["allow", "Bash(touch *)"],
      ["deny", "Bash(git push *)"],
      ["allow", "Edit(./src/**)"],
      ["allow", "Bash"],
      ["deny", "Read(.env)"],
    ] as const) {
      const { decided, seconds } = await tried(plexus, decision, match);
      expect([match, decided > 0]).toEqual([match, decision === "allow"]);
      worst = Math.max(worst, seconds);
    }
    expect(worst / secondsForItsText()).toBeLessThan(MOST_OF_ITS_TEXT);
  }, 120_000);

  // With a full reading of each, every one of these took 15 seconds or more.
  test("that are mostly different: a rule is tried quickly, and others have their turn", async () => {
    await using plexus = await startRuled();
    const { id: sessionId } = await plexus.session();
    plantPast({ dataDir: plexus.dataDir, sessionId }, PAST, (at) => ({
      ...{ tool: "Bash", input: { command: variedCommand(at), description: `Step ${at}` } },
      status: at % 97 === 1 ? "denied" : "allowed",
    }));
    for (const [decision, match, expected] of [
      ["allow", "Bash(npm run *)", 0],
      ["allow", "Bash(touch *)", PAST / 16],
      ["deny", "Bash(git push *)", 0],
      ["deny", "Bash(terraform *)", 0],
      ["deny", "Bash(rm *)", PAST / 16],
      ["ask", "Bash", PAST],
    ] as const) {
      const { decided, seconds } = await tried(plexus, decision, match);
      expect([match, decided]).toEqual([match, expected]);
      expect([match, seconds < 4]).toEqual([match, true]);
    }
    expect(await turnsDuring(tried(plexus, "allow", "Bash(touch *)"))).toBeGreaterThan(100);
  }, 240_000);
});
