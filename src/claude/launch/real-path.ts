import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** What a path really is, with every symbolic link followed; of what does not exist yet, its place is what counts. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}
