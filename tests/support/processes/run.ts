import { until } from "../until.ts";
import { endRun, RUN_MARKER, survivors } from "./processes.ts";

/** How long a process may take to go by itself once the body is done. */
const LEAVING_MS = 3_000;

/** Every process that is started with `mark` in its environment has to be gone when the body is done. */
export async function withRun<T>(body: (mark: Record<string, string>) => Promise<T>): Promise<T> {
  const runId = crypto.randomUUID();
  try {
    const value = await body({ [RUN_MARKER]: runId });
    await expectNoSurvivors(runId);
    return value;
  } finally {
    await endRun(runId);
  }
}

async function expectNoSurvivors(runId: string): Promise<void> {
  await until("nothing to survive", () => survivors(runId).length === 0, LEAVING_MS).catch(() => {
    const left = survivors(runId).map(({ pid, command }) => `${pid} ${command}`);
    throw new Error(`the run left processes behind:\n${left.join("\n")}`);
  });
}
