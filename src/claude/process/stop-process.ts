import { statSync } from "node:fs";
import type { LeftRunning } from "../../contract/sessions/left-running.ts";
import { filesIn } from "../launch/launch.ts";
import { markedBy } from "./markers.ts";
import {
  commandOf,
  descendantsOf,
  findProcess,
  isSameProcess,
  type ProcessIdentity,
  runningProcesses,
  signalIfSame,
} from "./processes.ts";

const LOOK_EVERY_MS = 15;
/** The shell around the CLI only has to write the exit code. */
const SHELL_MS = 1_000;

/** A process that is left after this time belongs to another user, or hangs in the kernel. */
const KILL_MS = 4_000;

/**
 * Stops a child with all its processes: first an interrupt, so that the CLI saves its conversation, then SIGKILL for
 * everything below it, including other process sessions and processes that left the process tree. Returns the processes
 * that could not be stopped.
 */
export async function stopProcessTree(
  child: ProcessIdentity,
  { graceMs, dir }: { graceMs: number; dir: string },
): Promise<LeftRunning[]> {
  const marked = markedBy(dir);
  const members = isSameProcess(child) ? descendantsOf(child.pid) : [];
  const [cli] = members;
  if (cli && hasBegun(dir)) {
    signalIfSame(cli, "SIGINT");
    await untilGone([child, ...members], graceMs);
  }
  if (cli) {
    // The shell goes last: it writes the exit code, and only it may be there to reap the CLI.
    killBelow(child, members);
    await untilGone([child], SHELL_MS);
  }
  const left = await killRemaining(() => stillRunning([child, ...members, ...marked.processes()]), marked.kill);
  marked.remove();
  return left.map(({ pid }) => ({ pid, command: commandOf(pid) }));
}

/** Whether the CLI has written output. Without, it has nothing to save, and an interrupt that early would be lost. */
function hasBegun(dir: string): boolean {
  return (statSync(filesIn(dir).stdout, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

async function killRemaining(remaining: () => ProcessIdentity[], killAll: () => void): Promise<ProcessIdentity[]> {
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

function stillRunning(all: ProcessIdentity[]): ProcessIdentity[] {
  return [...new Map(all.filter(isSameProcess).map((one) => [one.pid, one])).values()];
}

/** Kills everything but the shell itself, which then writes the exit code. */
function killBelow(child: ProcessIdentity, members: ProcessIdentity[]): void {
  const below = isSameProcess(child) ? descendantsOf(child.pid) : [];
  kill(freeze([...below, ...members]));
}

/** Suspends processes before listing their children, generation by generation, so that no new process is missed. */
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

/** Polls, because only a process's own parent can wait for it. */
async function untilGone(targets: ProcessIdentity[], timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (targets.some(({ pid, startTime }) => findProcess(pid)?.startTime === startTime)) {
    if (performance.now() > deadline) return;
    await Bun.sleep(LOOK_EVERY_MS);
  }
}
