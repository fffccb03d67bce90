import { type BigIntStats, lstatSync, readlinkSync, statfsSync } from "node:fs";
import { sep } from "node:path";

/** What a path leads to, by what the file system says now. */
export type Found = {
  /** Without links; of what is missing, as far as it exists, and then as it is written. */
  real: string;
  kind: "file" | "directory" | "other" | "missing";
  /** Identities from the root down to itself, of what is missing to the nearest that exists: a path has many spellings, a file one. */
  ids: readonly string[];
  /** Where the links lie that led there. */
  links: readonly string[];
};

/** How many names may still be looked up. */
type Budget = { steps: number };

/** As many links as Linux follows. */
const MAX_LINKS = 40;
/** What lies here differs from process to process, or is no file at all. */
const UNREAL = /^\/(?:proc|dev|sys)(?:\/|$)/;
/** So many names are looked up for one path: links can lead in circles for as long as their texts are. */
const MAX_STEPS = 1_000;
/** The type of `/proc`, by which it is known where else it is mounted. */
const PROC = 0x9fa0;

/**
 * Follows a path as the kernel does, link by link; `undefined` when nobody can tell where it leads. It is not left to
 * `realpath`, which would read links through `/proc/self` for this process instead of the child's, and takes `..` away
 * before it has followed what stands before it. Who follows many paths at once gives all of them one number of steps.
 */
export function follow(path: string, budget: Budget = { steps: MAX_STEPS }): Found | undefined {
  try {
    return followed(path, budget);
  } catch {
    return undefined;
  }
}

/** Whether `path` is `root`, or lies below it; both as they really are. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

export function idOf(stat: BigIntStats | undefined): string {
  return stat ? `${stat.dev}:${stat.ino}` : "";
}

function followed(path: string, budget: Budget): Found | undefined {
  const waiting = path.split("/").reverse();
  const above: { real: string; id: string }[] = [{ real: "", id: idOf(statOf("/")) }];
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
    const stat = statOf(real);
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

/** Behind what is missing, `..` leads nowhere, until something is there. */
function missing(real: string, rest: string[], { above, links }: Way): Found | undefined {
  const names = rest.filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return undefined;
  return { real: [real, ...names].join("/"), kind: "missing", ids: above.map(({ id }) => id), links };
}

function kindOf(stat: BigIntStats | undefined): Found["kind"] {
  if (stat?.isFile()) return "file";
  return stat?.isDirectory() ? "directory" : "other";
}

/** Nothing where there is none, as below a file. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOTDIR") return undefined;
    throw cause;
  }
}
