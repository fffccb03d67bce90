import { type BigIntStats, lstatSync, readlinkSync, statfsSync } from "node:fs";
import { sep } from "node:path";

/** What a path leads to in the file system now. */
export type Found = {
  /** The path without links; the missing part of a path is kept as written. */
  real: string;
  kind: "file" | "directory" | "other" | "missing";
  /** The identities (device and inode) of every directory on the path and of the file itself, if it exists. */
  ids: readonly string[];
  /** The paths of the links that were followed. */
  links: readonly string[];
};

/**
 * How many names may still be looked up. One budget can be shared by many paths; `seen` then caches their lookups, and
 * `followed` their results.
 */
export type Budget = { steps: number; seen?: Map<string, BigIntStats | undefined>; followed?: FollowedPaths };
/** The caches of a budget, for callers that accept the files as they were a moment ago. */
export type SeenFiles = Required<Omit<Budget, "steps">>;
/** Where paths led, and in how many steps. */
type FollowedPaths = Map<string, { found: Found | undefined; steps: number }>;

/** Linux follows at most this many links. */
const MAX_LINKS = 40;
/** Paths below these differ between processes, or are not files. */
const UNREAL = /^\/(?:proc|dev|sys)(?:\/|$)/;
/** The limit for one path: links can lead in circles. */
const MAX_STEPS = 1_000;
/** The file system type of `/proc`, which may be mounted elsewhere too. */
const PROC = 0x9fa0;

/**
 * Follows a path like the kernel, link by link; `undefined` if its target can't be known. `realpath` is wrong here: it
 * resolves `/proc/self` for this process instead of the child, and removes `..` before it follows the links that
 * precede it.
 */
export function follow(path: string, budget: Budget = { steps: MAX_STEPS }): Found | undefined {
  const known = budget.followed?.get(path);
  if (known && known.steps <= budget.steps) {
    budget.steps -= known.steps;
    return known.found;
  }
  const before = budget.steps;
  const found = attempted(path, budget);
  // Where the budget has ended the search, it says nothing of the path.
  if (budget.steps >= 0) budget.followed?.set(path, { found, steps: before - budget.steps });
  return found;
}

function attempted(path: string, budget: Budget): Found | undefined {
  try {
    return followed(path, budget);
  } catch {
    return undefined;
  }
}

/** Whether `path` is `root` or is below it; both must be real paths. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

export function idOf(stat: BigIntStats | undefined): string {
  return stat ? `${stat.dev}:${stat.ino}` : "";
}

function followed(path: string, budget: Budget): Found | undefined {
  const waiting = path.split("/").reverse();
  const above: { real: string; id: string }[] = [{ real: "", id: idOf(seenAt("/", budget)) }];
  const links: string[] = [];
  let last: BigIntStats | undefined;
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === "" || name === ".") continue;
    if (--budget.steps < 0) return undefined;
    if (name === "..") {
      if (above.length > 1) above.pop();
      last = undefined;
      continue;
    }
    const directory = above.at(-1)?.real ?? "";
    const real = `${directory}/${name}`;
    if (UNREAL.test(real)) return undefined;
    const stat = seenAt(real, budget);
    if (!stat) return missing(real, waiting.reverse(), { above, links });
    if (stat.isSymbolicLink()) {
      if (links.push(real) > MAX_LINKS || statfsSync(directory || "/").type === PROC) return undefined;
      const target = readlinkSync(real);
      if (target.startsWith("/")) above.splice(1);
      waiting.push(...target.split("/").reverse());
      last = undefined;
      continue;
    }
    last = stat;
    above.push({ real, id: idOf(stat) });
  }
  const real = above.at(-1)?.real || "/";
  return { real, kind: kindOf(last ?? statOf(real)), ids: above.map(({ id }) => id), links };
}

type Way = { above: { id: string }[]; links: string[] };

/** A path with `..` after a missing name leads nowhere. */
function missing(real: string, rest: string[], { above, links }: Way): Found | undefined {
  const names = rest.filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return undefined;
  return { real: [real, ...names].join("/"), kind: "missing", ids: above.map(({ id }) => id), links };
}

function kindOf(stat: BigIntStats | undefined): Found["kind"] {
  if (stat?.isFile()) return "file";
  return stat?.isDirectory() ? "directory" : "other";
}

function seenAt(path: string, { seen }: Budget): BigIntStats | undefined {
  if (seen?.has(path)) return seen.get(path);
  const stat = statOf(path);
  seen?.set(path, stat);
  return stat;
}

/** `undefined` if there is no such file, also below a file. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOTDIR") return undefined;
    throw cause;
  }
}
