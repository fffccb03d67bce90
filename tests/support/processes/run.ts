import { until } from "../until.ts";
import { endRun, RUN_MARKER, survivors } from "./processes.ts";

/** How long a process may take to exit by itself after the body. */
const LEAVING_MS = 3_000;

/** Fails unless every process with `mark` in its environment is gone after the body. */
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
