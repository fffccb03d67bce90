import { until } from "../until.ts";
import { type Process, processTable } from "./process-table.ts";

/** Marks every process of one run; not PLEXUS_…, which Plexus removes from the environment of its children. */
export const RUN_MARKER = "TEST_RUN_ID";

/** A zombie does not run: it only keeps its exit code. */
export function isRunning(pid: number): boolean {
  return isAlive(processTable.get(pid));
}

/** All running processes below `pid`, parents before their children. */
export function descendants(pid: number): number[] {
  const running = processTable.all().filter(isAlive);
  const below = (parent: number): number[] =>
    running.filter((child) => child.parent === parent).flatMap((child) => [child.pid, ...below(child.pid)]);
  return below(pid);
}

/** The running processes of one run, even those that left its tree and were adopted by init. */
export function survivors(runId: string): Process[] {
  return processTable.withEnvironment(RUN_MARKER, runId).filter(isAlive);
}

/** Resolves when `pid` and all its descendants are gone, including those in other process sessions. */
export async function endTree(pid: number): Promise<void> {
  const tree = freeze(pid);
  for (const member of tree) signal(member, "SIGKILL");
  await until(`the end of the processes ${tree.join(", ")}`, () => !tree.some(isRunning));
}

/** Resolves when every process of the run is gone. */
export async function endRun(runId: string): Promise<void> {
  await until(`the end of every process of run ${runId}`, async () => {
    const left = survivors(runId);
    await Promise.all(left.map(({ pid }) => endTree(pid)));
    return left.length === 0;
  });
}

/** Returns whether the process existed. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Stops each process before listing its children, so that it can't start new ones meanwhile. */
function freeze(pid: number): number[] {
  signal(pid, "SIGSTOP");
  const children = processTable.all().filter((child) => child.parent === pid && isAlive(child));
  return [pid, ...children.flatMap((child) => freeze(child.pid))];
}

function isAlive(entry: Process | undefined): boolean {
  return entry !== undefined && !/^[ZX]/.test(entry.state);
}
