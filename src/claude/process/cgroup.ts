import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const PREFIX = "plexus-";
/** Younger ones may belong to a child that is being started. */
const STRAY_AFTER_MS = 60_000;

/** The directory of the control group that this process is in, where the kernel has version 2 of them. */
export function ownCgroup(): string | undefined {
  const path = /^0::(\/.*)$/m.exec(contents("/proc/self/cgroup"))?.[1];
  // Each line: id, parent, device, root of the mount, where it is mounted, …, " - ", type.
  const mount = contents("/proc/self/mountinfo")
    .split("\n")
    .find((line) => line.includes(" - cgroup2 "))
    ?.split(" ");
  const [root, mounted] = [mount?.[3], mount?.[4]];
  if (!path || !root || !mounted || !path.startsWith(root) || path.startsWith("/..")) return undefined;
  return join(mounted, path.slice(root === "/" ? 0 : root.length));
}

/** A control group for one child; `undefined` where this process may not make any. */
export function createCgroup(parent: string, name: string): string | undefined {
  removeStrays(parent);
  const cgroup = join(parent, `${PREFIX}${name}`);
  try {
    mkdirSync(cgroup);
    return cgroup;
  } catch {
    return undefined;
  }
}

/** What a process writes `0` to, to enter the group with all that it starts. */
export function entryOf(cgroup: string): string {
  return join(cgroup, "cgroup.procs");
}

/** The numbers of the processes in it, and in groups that they have made below it. */
export function processesIn(cgroup: string): number[] {
  const own = contents(entryOf(cgroup)).split("\n").map(Number);
  // A number of 0 is a process that this one can't see.
  return [...own.filter((pid) => pid > 0), ...groupsIn(cgroup).flatMap((group) => processesIn(join(cgroup, group)))];
}

/** Ends all that is in it at once, however fast it multiplies; older kernels can't. */
export function killCgroup(cgroup: string): void {
  try {
    writeFileSync(join(cgroup, "cgroup.kill"), "1", { flag: "r+" });
  } catch {
    // Its processes are ended one by one then.
  }
}

/** One that still has processes in it stays. */
export function removeCgroup(cgroup: string): void {
  for (const group of groupsIn(cgroup)) removeCgroup(join(cgroup, group));
  try {
    rmdirSync(cgroup);
  } catch {
    // It goes with the strays, once it is empty.
  }
}

export function isCgroupOf(cgroup: string, name: string): boolean {
  return basename(cgroup) === `${PREFIX}${name}`;
}

/** A child that ended by itself has left its group, and may have left something running in it. */
function removeStrays(parent: string): void {
  const strays = groupsIn(parent)
    .filter((group) => group.startsWith(PREFIX))
    .map((group) => join(parent, group));
  for (const stray of strays) if (Date.now() - madeAt(stray) > STRAY_AFTER_MS) removeCgroup(stray);
}

function madeAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

function groupsIn(cgroup: string): string[] {
  try {
    return readdirSync(cgroup, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

function contents(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
