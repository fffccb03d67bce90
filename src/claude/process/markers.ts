import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { createCgroup, entryOf, isCgroupOf, killCgroup, processesIn, removeCgroup } from "./cgroup.ts";
import { findProcess, memoryLimitOf, type Process, processesLimitedTo, processesWith } from "./processes.ts";

/** An environment variable of everything that a child starts, unless it is started with another environment. */
export const MARK = "PLEXUS_CHILD";

/**
 * What a process inherits even if it leaves the process tree or gets another environment: a limit on its resident
 * memory that is unique to the child, far above any real memory and not enforced by Linux; and a control group, where
 * the machine has them.
 */
const Markers = z.object({ limitKb: z.int().positive().optional(), cgroup: z.string().optional() });
type Markers = z.infer<typeof Markers>;

/** 4 PB: a program that sizes itself by this limit then takes the machine's memory instead. */
const HIGHEST_KB = 2 ** 42;
const DIFFERENT_LIMITS = 2 ** 36;

export function markOf(dir: string): string {
  return Bun.hash(dir).toString(36);
}

/** Chooses the markers of a child, and writes them down for the server that will stop it. */
export function createMarkers(dir: string, cgroups: string | undefined): Markers {
  const markers = { limitKb: freeLimit(dir), cgroup: cgroups && createCgroup(cgroups, markOf(dir)) };
  writeFileSync(fileIn(dir), JSON.stringify(markers), { mode: 0o600 });
  return markers;
}

/** The arguments with which the shell that starts a child sets these markers on itself. */
export function markerArguments({ limitKb, cgroup }: Markers): [limitKb: string, entry: string] {
  return [String(limitKb ?? ""), cgroup ? entryOf(cgroup) : "/dev/null"];
}

/** What the markers of a child find; its directory may be removed meanwhile. */
export function markedBy(dir: string) {
  const { limitKb, cgroup } = readMarkers(dir);
  return {
    /** What the child has started, wherever it is in the process tree now. */
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
