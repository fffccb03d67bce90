import { delimiter, isAbsolute } from "node:path";
import { isWithin } from "../../files/real-path.ts";
import { realPath } from "./real-path.ts";

/** Used if no entry is left. */
const SYSTEM_PATH = "/usr/bin:/bin";

/**
 * Removes the entries inside these directories from PATH: the CLI starts some programs by name before it asks for
 * anything, and a project could bring its own versions of them.
 */
export function pathOutside(dirs: string[], path = ""): string {
  const roots = dirs.map(realPath);
  const isOutside = (entry: string) => isAbsolute(entry) && !roots.some((root) => isWithin(root, realPath(entry)));
  return path.split(delimiter).filter(isOutside).join(delimiter) || SYSTEM_PATH;
}
