import { type BigIntStats, lstatSync, readlinkSync } from "node:fs";

/** What a path leads to, by what the file system says now. */
export type Found = {
  /** Without links; of what is missing, as far as it exists, and then as it is written. */
  real: string;
  kind: "file" | "directory" | "other" | "missing";
  /** The identity of what exists, itself last, then of every directory above it: a path has many spellings, a file one. */
  ids: readonly string[];
};

/** As many links as Linux follows. */
const MAX_LINKS = 40;
/** What lies here differs from process to process, or is no file at all. */
const UNREAL = /^\/(?:proc|dev|sys)(?:\/|$)/;

/**
 * Follows a path as the kernel does, link by link. It is not left to `realpath`, which would read links through
 * `/proc/self` for this process instead of the child's, and takes `..` away before it has followed what stands before it.
 */
export function follow(path: string): Found | undefined {
  const waiting = path.split("/").reverse();
  const above: { real: string; id: string }[] = [{ real: "", id: idOf(statOf("/")) }];
  let links = 0;
  let last: BigIntStats | undefined;
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (above.length > 1) above.pop();
      last = undefined;
      continue;
    }
    const real = `${above.at(-1)?.real ?? ""}/${name}`;
    if (UNREAL.test(real)) return undefined;
    const stat = statOf(real);
    if (!stat) return missing(real, waiting.reverse(), above);
    if (stat.isSymbolicLink()) {
      if (++links > MAX_LINKS) return undefined;
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
  return { real, kind: kindOf(last ?? statOf(real)), ids: above.map(({ id }) => id) };
}

/** Whether a path is the directory, or lies below it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

function missing(real: string, rest: string[], above: { id: string }[]): Found | undefined {
  const names = rest.filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return undefined;
  return { real: [real, ...names].join("/"), kind: "missing", ids: above.map(({ id }) => id) };
}

function kindOf(stat: BigIntStats | undefined): Found["kind"] {
  if (stat?.isFile()) return "file";
  return stat?.isDirectory() ? "directory" : "other";
}

function statOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function idOf(stat: BigIntStats | undefined): string {
  return stat ? `${stat.dev}:${stat.ino}` : "";
}
