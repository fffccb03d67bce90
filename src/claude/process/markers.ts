import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { createCgroup, entryOf, isCgroupOf, killCgroup, processesIn, removeCgroup } from "./cgroup.ts";
import { findProcess, memoryLimitOf, type Process, processesLimitedTo, processesWith } from "./processes.ts";

/** An environment variable that all processes of a child inherit, unless they are started with another environment. */
export const MARK = "PLEXUS_CHILD";

/**
 * Markers that a process inherits even if it leaves the process tree or gets another environment: a limit on its
 * resident memory, unique to the child, far above any real memory and not enforced by Linux; and a control group, if
 * the machine has them.
 */
const Markers = z.object({ limitKb: z.int().positive().optional(), cgroup: z.string().optional() });
type Markers = z.infer<typeof Markers>;

/** 4 PB: so high that a program which sizes itself by this limit uses the machine's memory instead. */
const HIGHEST_KB = 2 ** 42;
const DIFFERENT_LIMITS = 2 ** 36;

export function markOf(dir: string): string {
  return Bun.hash(dir).toString(36);
}

/** Chooses the markers of a child, and stores them for the server that will stop it. */
export function createMarkers(dir: string, cgroups: string | undefined): Markers {
  const markers = { limitKb: freeLimit(dir), cgroup: cgroups && createCgroup(cgroups, markOf(dir)) };
  writeFileSync(fileIn(dir), JSON.stringify(markers), { mode: 0o600 });
  return markers;
}

/** The arguments with which the shell that starts a child sets these markers on itself. */
export function markerArguments({ limitKb, cgroup }: Markers): [limitKb: string, entry: string] {
  return [String(limitKb ?? ""), cgroup ? entryOf(cgroup) : "/dev/null"];
}

/**
 * Finds processes by the markers of a child. The markers are read at once, since the directory may be removed
 * meanwhile.
 */
export function markedBy(dir: string) {
  const { limitKb, cgroup } = readMarkers(dir);
  return {
    /** All processes that the child has started, wherever they are in the process tree. */
    processes: (): Process[] => [
      ...processesWith(MARK, markOf(dir)),
      ...(limitKb === undefined ? [] : processesLimitedTo(limitKb * 1024)),
      ...(cgroup ? processesIn(cgroup).flatMap((pid) => findProcess(pid) ?? []) : []),
    ],
    /** Kills the control group, if there is one, at once. */
    kill: () => cgroup && killCgroup(cgroup),
    /** Removes the control group of a child that has ended. */
    remove: () => cgroup && removeCgroup(cgroup),
  };
}

/** A limit below this process's own, since a process can only lower its limit. */
function freeLimit(dir: string): number | undefined {
  const own = memoryLimitOf("self");
  if (own === undefined) return undefined;
  const highest = Math.min(HIGHEST_KB, Math.floor(own / 1024));
  return highest > DIFFERENT_LIMITS ? highest - 1 - Number(Bun.hash(dir) % BigInt(DIFFERENT_LIMITS - 1)) : undefined;
}

function readMarkers(dir: string): Markers {
  try {
    const markers = Markers.parse(JSON.parse(readFileSync(fileIn(dir), "utf8")));
    return markers.cgroup && !isCgroupOf(markers.cgroup, markOf(dir)) ? { ...markers, cgroup: undefined } : markers;
  } catch {
    // An earlier version of Plexus started the child, or it was never started.
    return {};
  }
}

/** The name stays, so that an upgraded server finds the markers of children that still run. */
function fileIn(dir: string): string {
  return join(dir, "traces.json");
}
