import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeStandIn } from "../../tests/support/claude/stand-in.ts";
import { connectClient } from "../../tests/support/mcp/mcp-client.ts";
import { answerOf } from "../../tests/support/mcp/tool-answers.ts";
import { withRun } from "../../tests/support/processes/run.ts";
import { createRandom } from "../../tests/support/random.ts";
import { freePort } from "../../tests/support/server/free-port.ts";
import { allEvents } from "../../tests/support/sessions/told-events.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { until } from "../../tests/support/until.ts";
import { miscounts } from "./counted.ts";
import { moment } from "./moment.ts";
import { createVictim } from "./victim.ts";

const TOKEN = "operator-token-of-the-crash-rounds";
const CHILD = join(import.meta.dir, "counting-child.ts");
const CHILDREN = ["one", "two"];
/** Short enough to kill some servers during their start, while they adopt children. */
const LONGEST_LIFE_MS = 900;

export type TurnsOptions = {
  kills: number;
  seed: string;
  program?: string[] | undefined;
  stopped?: AbortSignal | undefined;
};
export type TurnsReport = { killed: number; messages: number; violations: string[] };

/** Kills the server repeatedly while its children write; everything they wrote must be recorded once, in order. */
export async function killDuringTurns(options: TurnsOptions): Promise<TurnsReport> {
  await using directory = await temporaryDirectory();
  return await withRun((env) => killServers(options, directory.path, env));
}

async function killServers(
  options: TurnsOptions,
  directory: string,
  env: Record<string, string>,
): Promise<TurnsReport> {
  const random = createRandom(`${options.seed}/turns`);
  const claude = writeStandIn(directory, `exec '${process.execPath}' '${CHILD}'`);
  const dataDir = join(directory, "data");
  mkdirSync(dataDir);
  const victim = createVictim({
    program: options.program,
    dataDir,
    port: freePort(random),
    token: TOKEN,
    args: ["--claude", claude],
    env,
  });
  const report: TurnsReport = { killed: 0, messages: 0, violations: [] };
  const placeOf = (name: string) => join(directory, name);

  await victim.start().listening;
  await using parent = await connectClient(victim.url, TOKEN);
  for (const name of CHILDREN) {
    mkdirSync(placeOf(name));
    await parent.call("claudecode_create", { name, working_dir: placeOf(name) });
    await parent.call("claudecode_chat_async", { name, prompt: `${options.seed}/${name}` });
  }
  for (; report.killed < options.kills && !options.stopped?.aborted; report.killed++) {
    await moment(random.next() * LONGEST_LIFE_MS);
    await victim.kill();
    victim.start();
  }
  await victim.up();
  for (const name of CHILDREN) {
    writeFileSync(join(placeOf(name), "enough"), "");
    const { status } = await until(`the end of ${name}`, async () => {
      const turn = await poll({ name, wait_secs: 5, consumer: "the end" });
      return turn.status !== "running" && turn;
    });
    const count = Number(readFileSync(join(placeOf(name), "counted"), "utf8"));
    const events = await allEvents((from_seq) => poll({ name, from_seq, limit: 1000 }));
    if (status !== "complete") report.violations.push(`${name} is ${status}: ${JSON.stringify(events.at(-1))}`);
    report.violations.push(...miscounts(events, count));
    report.messages += count;
  }
  await victim.stop();
  return report;

  async function poll(args: object) {
    return answerOf("claudecode_poll", (await parent.call("claudecode_poll", args)).value);
  }
}
