import { delimiter, isAbsolute } from "node:path";
import { isWithin } from "../../files/real-path.ts";
import { realPath } from "./real-path.ts";

/** Where nothing else is left: what no shell would do without. */
const SYSTEM_PATH = "/usr/bin:/bin";

/**
 * A PATH by which no program of these directories is found: the CLI starts some by their bare names before anything is
 * asked, and a project could bring its own.
 */
export function pathOutside(dirs: string[], path = ""): string {
  const places = dirs.map(realPath);
  const isOutside = (entry: string) => isAbsolute(entry) && !places.some((place) => isWithin(place, realPath(entry)));
  return path.split(delimiter).filter(isOutside).join(delimiter) || SYSTEM_PATH;
}
