import { MARK, markOf } from "./launch.ts";
import {
  descendantsOf,
  findProcess,
  isSameProcess,
  type ProcessIdentity,
  processesWith,
  runningProcesses,
  signalIfSame,
} from "./processes.ts";

const LOOK_EVERY_MS = 15;
/** The shell around the CLI has only to note the exit code. */
const SHELL_MS = 1_000;

/**
 * Resolves when nothing of the child is left: an interrupt first, for the CLI to save its conversation, then the end
 * of everything below it, of what its Bash tool started in a process session of its own, and of what left the tree.
 */
export async function endChild(
  child: ProcessIdentity,
  { graceMs, dir }: { graceMs: number; dir: string },
): Promise<void> {
  const members = isSameProcess(child) ? descendantsOf(child.pid) : [];
  const [cli] = members;
  if (cli) signalIfSame(cli, "SIGINT");
  await untilGone([child, ...members], graceMs);
  endBelow(child, members);
  await untilGone([child], SHELL_MS);
  for (let left = remains(child, members, dir); left.length > 0; left = remains(child, members, dir)) {
    for (const member of left) kill(freeze(member));
    await untilGone(left, SHELL_MS);
  }
}

/** What the tree has lost sight of still carries the child's mark. */
function remains(child: ProcessIdentity, members: ProcessIdentity[], dir: string): ProcessIdentity[] {
  return [child, ...members, ...processesWith(MARK, markOf(dir))].filter(isSameProcess);
}

/** All but the shell itself, which then notes the exit code. */
function endBelow(child: ProcessIdentity, members: ProcessIdentity[]): void {
  const below = isSameProcess(child) ? descendantsOf(child.pid) : [];
  kill([...below, ...members].flatMap(freeze));
}

/** Stops each process before its children are listed, so that none can be started behind our back. */
function freeze(target: ProcessIdentity): ProcessIdentity[] {
  if (!isSameProcess(target)) return [];
  signalIfSame(target, "SIGSTOP");
  const children = runningProcesses().filter(({ parent }) => parent === target.pid);
  return [target, ...children.flatMap(freeze)];
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
