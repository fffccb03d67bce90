import { realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

/** What a path really is, with every symbolic link followed; of what does not exist yet, its place is what counts. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

/** Whether `path` is `root`, or lies below it; both as they really are. */
export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith("../"));
}
