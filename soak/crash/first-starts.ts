import { readOperatorToken } from "../../src/operator-token.ts";
import { withRun } from "../../tests/support/processes/run.ts";
import { createRandom, type Random } from "../../tests/support/random.ts";
import { freePort } from "../../tests/support/server/free-port.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { createDisk } from "../ledger/disk.ts";
import { moment } from "./moment.ts";
import { createVictim } from "./victim.ts";
import { request } from "./wire.ts";

export type FirstStartsOptions = {
  times: number;
  seed: string;
  program?: string[] | undefined;
  stopped?: AbortSignal | undefined;
};
export type FirstStartsReport = { killed: number; violations: string[] };

/** Kills a server while it creates its database and token, each time in an empty data dir; the next start must work. */
export async function killFirstStarts(options: FirstStartsOptions): Promise<FirstStartsReport> {
  const random = createRandom(`${options.seed}/first starts`);
  const report: FirstStartsReport = { killed: 0, violations: [] };
  let startMs = 400;
  while (report.killed < options.times && report.violations.length === 0 && !options.stopped?.aborted) {
    startMs = await withRun((env) => killFirstStart(options.program, random, startMs, env, report));
    report.killed++;
  }
  return report;
}

/** Returns the duration of the second start. */
async function killFirstStart(
  program: string[] | undefined,
  random: Random,
  startMs: number,
  env: Record<string, string>,
  { violations }: FirstStartsReport,
): Promise<number> {
  await using directory = await temporaryDirectory();
  const dataDir = directory.path;
  const victim = createVictim({ program, dataDir, port: freePort(random), env });
  const killedAfterMs = random.next() * startMs;
  const expect = (holds: boolean, otherwise: string) =>
    void (holds || violations.push(`killed after ${killedAfterMs.toFixed(1)} ms: ${otherwise}`));

  victim.start();
  await moment(killedAfterMs);
  await victim.kill();
  const second = victim.start();
  await second.listening.catch((cause: unknown) => expect(false, String(cause)));
  if (second.listensAt === undefined) return startMs;
  const token = readOperatorToken(dataDir) ?? "";
  const { status } = await request(`${victim.url}/api/v1/approvals`, { token });
  expect(status === 200, `the operator's token gets ${status}`);
  expect((await victim.stop()) === 0, "the second server did not stop");
  const disk = createDisk(dataDir);
  expect(disk.integrity() === "ok", disk.integrity());
  disk.close();
  return second.listensAt - second.startedAt;
}
