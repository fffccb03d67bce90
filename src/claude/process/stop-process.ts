import { statSync } from "node:fs";
import type { LeftRunning } from "../../contract/sessions/left-running.ts";
import { filesIn } from "../launch/launch.ts";
import {
  commandOf,
  descendantsOf,
  findProcess,
  isSameProcess,
  type ProcessIdentity,
  runningProcesses,
  signalIfSame,
} from "./processes.ts";
import { tracesIn } from "./traces.ts";

const LOOK_EVERY_MS = 15;
/** The shell around the CLI has only to note the exit code. */
const SHELL_MS = 1_000;

/** What is left after that is somebody else's by now, or hangs in the kernel. */
const KILL_MS = 4_000;

/**
 * Resolves when nothing of the child is left: an interrupt first, for the CLI to save its conversation, then the end
 * of everything below it, of what its Bash tool started in a process session of its own, and of what left the tree.
 * Tells what could not be ended.
 */
export async function endChild(
  child: ProcessIdentity,
  { graceMs, dir }: { graceMs: number; dir: string },
): Promise<LeftRunning[]> {
  const traces = tracesIn(dir);
  const members = isSameProcess(child) ? descendantsOf(child.pid) : [];
  const [cli] = members;
  if (cli && hasBegun(dir)) {
    signalIfSame(cli, "SIGINT");
    await untilGone([child, ...members], graceMs);
  }
  if (cli) {
    // The shell goes last: it notes the exit code, and nobody else may be there to bury the CLI.
    endBelow(child, members);
    await untilGone([child], SHELL_MS);
  }
  const left = await endRemains(() => remains([child, ...members, ...traces.processes()]), traces.kill);
  traces.remove();
  return left.map(({ pid }) => ({ pid, command: commandOf(pid) }));
}

/** A CLI that has said nothing yet has nothing to save, and an interrupt that comes too early would be lost. */
function hasBegun(dir: string): boolean {
  return (statSync(filesIn(dir).stdout, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

async function endRemains(remaining: () => ProcessIdentity[], killAll: () => void): Promise<ProcessIdentity[]> {
  const deadline = performance.now() + KILL_MS;
  let left = remaining();
  while (left.length > 0 && performance.now() < deadline) {
    killAll();
    kill(freeze(left));
    await untilGone(left, SHELL_MS);
    left = remaining();
  }
  return left;
}

function remains(all: ProcessIdentity[]): ProcessIdentity[] {
  return [...new Map(all.filter(isSameProcess).map((one) => [one.pid, one])).values()];
}

/** All but the shell itself, which then notes the exit code. */
function endBelow(child: ProcessIdentity, members: ProcessIdentity[]): void {
  const below = isSameProcess(child) ? descendantsOf(child.pid) : [];
  kill(freeze([...below, ...members]));
}

/** Stops processes before their children are listed, one generation after the other: none is started behind our back. */
function freeze(targets: ProcessIdentity[]): ProcessIdentity[] {
  const frozen = new Map<number, ProcessIdentity>();
  for (let next = targets.filter(isSameProcess); next.length > 0; ) {
    for (const target of next) {
      signalIfSame(target, "SIGSTOP");
      frozen.set(target.pid, target);
    }
    next = runningProcesses().filter(({ pid, parent }) => frozen.has(parent) && !frozen.has(pid));
  }
  return [...frozen.values()];
}

function kill(targets: ProcessIdentity[]): void {
  for (const target of targets) signalIfSame(target, "SIGKILL");
}

/** A process that isn't our child can't be waited for, only looked at. */
async function untilGone(targets: ProcessIdentity[], timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (targets.some(({ pid, startTime }) => findProcess(pid)?.startTime === startTime)) {
    if (performance.now() > deadline) return;
    await Bun.sleep(LOOK_EVERY_MS);
  }
}
