import type { SimpleCommand } from "../../review/shell/index.ts";
import { isKnownReader } from "./builtin/programs.ts";
import { isSpecialReader } from "./builtin/special-programs.ts";
import { type LiteralCommand, literalCommands } from "./literal-command.ts";
import { noReadableFiles, type ReadableFiles } from "./readable-files.ts";

/** Whether a rule or an allowed tool covers the command. */
type IsAllowed = (command: SimpleCommand, dir: string) => boolean;
/** Whether the command may write this file. Without this function no command may write. */
type MayWrite = (path: string, dir: string) => boolean;

/** After one of these, later commands may run in another directory than the rule's author expected. */
export const DIRECTORY_CHANGES = ["cd", "chdir", "pushd", "popd"];

/**
 * Whether a whole command line is harmless: each command only reads what may be read, or is covered by `isAllowed`.
 * Next to or after a covered command no path proves anything, because that command may have changed it.
 */
export function isHarmlessCommand(source: string, files: ReadableFiles, isAllowed: IsAllowed = () => false): boolean {
  const commands = literalCommands(source);
  return commands !== undefined && isHarmlessLine(commands, files, isAllowed);
}

/**
 * The same for a parsed line whose output may go to files. Plexus looks up each written file before the line runs, so
 * no covered command may run before or beside the one that writes: it could plant a link.
 */
export function isHarmlessLine(
  commands: readonly LiteralCommand[],
  files: ReadableFiles,
  isAllowed: IsAllowed,
  mayWrite: MayWrite = () => false,
): boolean {
  const changesDirectory = commands.some(({ words }) => DIRECTORY_CHANGES.includes(words[0] ?? ""));
  // After a failed `cd`, `;` or `||` would run the next command in the old directory.
  if (changesDirectory && commands.some(({ separator }) => separator === ";" || separator === "||")) return false;
  let dir = files.start;
  let now = files;
  for (const pipeline of pipelines(commands)) {
    const [first] = pipeline;
    if (pipeline.length === 1 && first?.words[0] === "cd" && first.writes.length === 0) {
      const next = directoryOf(first.words, dir, now);
      if (next === undefined) return false;
      dir = next;
      continue;
    }
    if (pipeline.some(({ words }) => DIRECTORY_CHANGES.includes(words[0] ?? ""))) return false;
    const isWriting = pipeline.some(({ writes }) => writes.length > 0);
    if (isWriting && !(now === files && areWritten(pipeline, files, dir, mayWrite))) return false;
    const onlyReading = pipeline.every((command) => onlyReads(command, now, dir));
    if (onlyReading && !isWriting) continue;
    now = noReadableFiles(files);
    if (onlyReading) continue;
    if (!pipeline.every((command) => onlyReads(command, now, dir) || isAllowed(command.parsed, dir))) return false;
  }
  return true;
}

/** Whether every output file may be written, and all commands beside a writing one only read. */
function areWritten(
  pipeline: readonly LiteralCommand[],
  files: ReadableFiles,
  dir: string,
  mayWrite: MayWrite,
): boolean {
  return pipeline.every(
    (command) =>
      command.writes.length === 0 ||
      (command.writes.every((path) => mayWrite(path, dir)) &&
        pipeline.every((other) => other === command || onlyReads(other, files, dir))),
  );
}

function onlyReads(
  { words: [name = "", ...rest], separator }: LiteralCommand,
  files: ReadableFiles,
  dir: string,
): boolean {
  const context = { files, dir, hasInput: separator === "|" };
  return isKnownReader(name, rest, context) || isSpecialReader(name, rest, context);
}

/**
 * The target of `cd`. Rejects bare names, which a shell looks up in CDPATH, and `..`, which shells and the kernel
 * resolve differently.
 */
function directoryOf([, path = "", ...rest]: readonly string[], dir: string, files: ReadableFiles): string | undefined {
  if (rest.length > 0 || !/^(?:\/|\.\/|\.$)/.test(path) || path.split("/").includes("..")) return undefined;
  const found = files.readable(path, dir);
  return found?.kind === "directory" ? found.real : undefined;
}

function pipelines(commands: readonly LiteralCommand[]): LiteralCommand[][] {
  const found: LiteralCommand[][] = [];
  for (const command of commands) {
    const last = found.at(-1);
    if (command.separator === "|" && last) last.push(command);
    else found.push([command]);
  }
  return found;
}
