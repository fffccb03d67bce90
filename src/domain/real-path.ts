import { lstat, readlink } from "node:fs/promises";
import { dirname, join, parse, sep } from "node:path";

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Where an absolute path leads, every link in it followed, those to nothing too; what does not exist yet stands as it
 * is written below its nearest real parent. `null` when that can't be told.
 */
export async function realPathOf(path: string): Promise<string | null> {
  let real = parse(path).root;
  const waiting = segmentsOf(path);
  let links = 0;
  for (let segment = waiting.shift(); segment !== undefined; segment = waiting.shift()) {
    if (segment === "..") {
      real = dirname(real);
      continue;
    }
    const at = join(real, segment);
    const target = await targetOf(at);
    if (target === null || (target !== undefined && ++links > MAX_LINKS)) return null;
    if (target === undefined) real = at;
    else {
      real = parse(target).root || real;
      waiting.unshift(...segmentsOf(target));
    }
  }
  return real;
}

function segmentsOf(path: string): string[] {
  const way = path.slice(parse(path).root.length);
  return way.split(sep).filter((segment) => segment !== "" && segment !== ".");
}

/** Where this links to, if it is a link; `null` when it can't be looked at. */
async function targetOf(path: string): Promise<string | null | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : null;
  }
}
