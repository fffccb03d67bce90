import { realpathSync } from "node:fs";
import { relative } from "node:path";

/** What a path really is, with every symbolic link followed; a path that can't be followed stays as it is. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Whether `path` is `root`, or lies below it; both as they really are. */
export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith("../"));
}
