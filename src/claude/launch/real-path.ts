import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Resolves every symbolic link of a path; what does not exist yet is appended as written. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}
