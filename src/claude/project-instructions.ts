import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cutText } from "../schema/cut.ts";
import { isWithin, realPath } from "./real-path.ts";

/** Where a project says what its helpers should know. */
const FILES = ["CLAUDE.md", join(".claude", "CLAUDE.md")];
const MAX_CHARS = 40_000;
const LEAST_CHARS = 200;

/**
 * What the CLAUDE.md of these directories say, for the system prompt. The CLI is not left to read them: it follows
 * links and imports, and so would send any file of the machine that a repository names to the model, unasked.
 */
export function projectInstructions(dirs: string[], privatePaths: string[], maxBytes: number): string {
  const texts = [...new Set(dirs)].flatMap((dir) =>
    FILES.flatMap((name) => {
      const text = instructionsIn(join(dir, name), dirs, privatePaths);
      return text ? [`Contents of ${join(dir, name)} (instructions of the project):\n\n${text}`] : [];
    }),
  );
  let shown = cutText(texts.join("\n\n"), MAX_CHARS);
  while (Buffer.byteLength(shown) > maxBytes && shown.length > LEAST_CHARS)
    shown = cutText(shown, Math.floor(shown.length / 2));
  return Buffer.byteLength(shown) > maxBytes ? "" : shown;
}

/** Nothing of what lies outside of the directories, is private, or is no plain file. */
function instructionsIn(path: string, dirs: string[], privatePaths: string[]): string | undefined {
  const real = realPath(path);
  if (!dirs.some((dir) => isWithin(realPath(dir), real))) return undefined;
  if (privatePaths.some((one) => isWithin(realPath(one), real))) return undefined;
  let fd: number;
  try {
    // By its real path and without following a link: one that is put there meanwhile is not read.
    fd = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    const { size, nlink } = fstatSync(fd);
    // A hard link may be to a private file.
    if (!fstatSync(fd).isFile() || nlink > 1 || size > 10 * MAX_CHARS) return undefined;
    return readFileSync(fd, "utf8").trim();
  } finally {
    closeSync(fd);
  }
}
