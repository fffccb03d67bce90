import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const PREFIX = "plexus-";
/** A younger group may belong to a child that is being started. */
const STRAY_AFTER_MS = 60_000;

/** The directory of this process's control group, if the kernel has cgroup v2. */
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

/** Creates a control group for one child; `undefined` if this process may not. */
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

/** The file to which a process writes `0` to enter the group with everything it starts. */
export function entryOf(cgroup: string): string {
  return join(cgroup, "cgroup.procs");
}

/** The pids of the processes in the group and in the groups below it. */
export function processesIn(cgroup: string): number[] {
  const own = contents(entryOf(cgroup)).split("\n").map(Number);
  // A pid of 0 is a process that this one can't see.
  return [...own.filter((pid) => pid > 0), ...groupsIn(cgroup).flatMap((group) => processesIn(join(cgroup, group)))];
}

/** Kills the whole group at once, however fast it forks; older kernels can't. */
export function killCgroup(cgroup: string): void {
  try {
    writeFileSync(join(cgroup, "cgroup.kill"), "1", { flag: "r+" });
  } catch {
    // The caller then kills the processes one by one.
  }
}

/** Removes the group, unless processes are still in it. */
export function removeCgroup(cgroup: string): void {
  for (const group of groupsIn(cgroup)) removeCgroup(join(cgroup, group));
  try {
    rmdirSync(cgroup);
  } catch {
    // `removeStrays` removes it once it is empty.
  }
}

export function isCgroupOf(cgroup: string, name: string): boolean {
  return basename(cgroup) === `${PREFIX}${name}`;
}

/** Removes the groups of children that ended by themselves, unless something still runs in them. */
function removeStrays(parent: string): void {
  const strays = groupsIn(parent)
    .filter((group) => group.startsWith(PREFIX))
    .map((group) => join(parent, group));
  for (const stray of strays) if (Date.now() - createdAt(stray) > STRAY_AFTER_MS) removeCgroup(stray);
}

function createdAt(path: string): number {
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
