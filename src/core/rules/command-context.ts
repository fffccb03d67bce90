import type { Found } from "../../files/real-path.ts";
import type { ReadableFiles } from "./readable-files.ts";

/** The directory in which a command runs, and the files that it may read. */
export type CommandContext = {
  files: ReadableFiles;
  /** The working directory of the command, with links resolved. */
  dir: string;
  /** Whether its input is the output of another command. */
  hasInput: boolean;
};

/** Whether the word names a readable file, the standard input or `/dev/null`. */
export function isReadableFile(word: string, context: CommandContext): boolean {
  const { files, dir } = context;
  if (word === "/dev/null" || files.readable(word, dir)?.kind === "file") return true;
  // Some programs read `-` as the standard input, others as a file of that name.
  return word === "-" && isAbsent(word, context);
}

/** Whether the file, or the names in the directory, may be listed. */
export function isListable(word: string, { files, dir }: CommandContext): boolean {
  return files.readable(word, dir) !== undefined;
}

/** Whether the file, or everything below the directory, may be read. */
export function isReadableTree(word: string, { files, dir }: CommandContext): boolean {
  const found = files.readable(word, dir);
  return found !== undefined && (found.kind === "file" || !files.holdsPrivate(found));
}

/** Files that a search tool reads to know what to skip. It follows them even if they are links. */
const IGNORE_FILES = [".ignore", ".gitignore", ".rgignore"];

/** Whether everything below the directory may be searched. */
export function isSearchable(word: string, context: CommandContext): boolean {
  if (!isReadableTree(word, context)) return false;
  const dir = context.files.readable(word, context.dir)?.real ?? "";
  return IGNORE_FILES.every((name) => isAbsent(name, { ...context, dir }) || isReadableFile(name, { ...context, dir }));
}

/** Whether a command may test if the path exists: it must lie inside the child's directories and not be private. */
export function mayTestExistence(word: string, { files, dir }: CommandContext): boolean {
  const found: Found | undefined = files.find(word, dir);
  return found !== undefined && files.isInside(found) && !files.isPrivate(found);
}

/** Whether nothing of this name exists. */
export function isAbsent(word: string, { files, dir }: CommandContext): boolean {
  return files.find(word, dir)?.kind === "missing";
}
