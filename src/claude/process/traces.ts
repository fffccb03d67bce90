import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { createCgroup, entryOf, isCgroupOf, killCgroup, processesIn, removeCgroup } from "./cgroup.ts";
import { findProcess, memoryLimitOf, type Process, processesLimitedTo, processesWith } from "./processes.ts";

/** In the environment of all that a child starts, unless it starts it with another one. */
export const MARK = "PLEXUS_CHILD";

/**
 * What is inherited however a process leaves the tree, and whatever environment it is given: a limit on its resident
 * memory, which Linux does not heed, far above any memory there is and like no other child's; and a control group,
 * where the machine has them.
 */
const Traces = z.object({ limitKb: z.int().positive().optional(), cgroup: z.string().optional() });
export type Traces = z.infer<typeof Traces>;

/** 4 PB: what reads the limit to choose a size for itself takes the machine's memory instead. */
const HIGHEST_KB = 2 ** 42;
const DIFFERENT_LIMITS = 2 ** 36;

export function markOf(dir: string): string {
  return Bun.hash(dir).toString(36);
}

/** Chooses the traces of a child, and notes them for whoever has to end it. */
export function layTraces(dir: string, cgroups: string | undefined): Traces {
  const traces = { limitKb: freeLimit(dir), cgroup: cgroups && createCgroup(cgroups, markOf(dir)) };
  writeFileSync(fileIn(dir), JSON.stringify(traces), { mode: 0o600 });
  return traces;
}

/** What the shell that starts a child is called with, to lay these traces on itself. */
export function traceArguments({ limitKb, cgroup }: Traces): [limitKb: string, entry: string] {
  return [String(limitKb ?? ""), cgroup ? entryOf(cgroup) : "/dev/null"];
}

/** The traces of the child that writes to this directory, which may go while they are in use. */
export function tracesIn(dir: string) {
  const { limitKb, cgroup } = notedIn(dir);
  return {
    /** What the child has started, wherever it hangs in the tree by now. */
    processes: (): Process[] => [
      ...processesWith(MARK, markOf(dir)),
      ...(limitKb === undefined ? [] : processesLimitedTo(limitKb * 1024)),
      ...(cgroup ? processesIn(cgroup).flatMap((pid) => findProcess(pid) ?? []) : []),
    ],
    /** Ends at once what can be ended at once. */
    kill: () => cgroup && killCgroup(cgroup),
    /** For a child that has ended. */
    remove: () => cgroup && removeCgroup(cgroup),
  };
}

/** A process may only lower its limit: below the one that this process has got itself. */
function freeLimit(dir: string): number | undefined {
  const own = memoryLimitOf("self");
  if (own === undefined) return undefined;
  const highest = Math.min(HIGHEST_KB, Math.floor(own / 1024));
  return highest > DIFFERENT_LIMITS ? highest - 1 - Number(Bun.hash(dir) % BigInt(DIFFERENT_LIMITS - 1)) : undefined;
}

function notedIn(dir: string): Traces {
  try {
    const traces = Traces.parse(JSON.parse(readFileSync(fileIn(dir), "utf8")));
    return traces.cgroup && !isCgroupOf(traces.cgroup, markOf(dir)) ? { ...traces, cgroup: undefined } : traces;
  } catch {
    // An earlier version started it, or it was never started.
    return {};
  }
}

function fileIn(dir: string): string {
  return join(dir, "traces.json");
}
