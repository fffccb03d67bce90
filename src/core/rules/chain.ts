import type { SimpleCommand } from "../../review/shell/index.ts";
import { isKnownReader } from "./builtin/programs.ts";
import { isSpecialReader } from "./builtin/special-programs.ts";
import { blind, type Ground } from "./ground.ts";
import { type LiteralCommand, literalCommands } from "./literal-command.ts";

/** Says whether a command is one that somebody has allowed by name. */
export type Named = (command: SimpleCommand, dir: string) => boolean;

const MOVES = ["cd", "chdir", "pushd", "popd"];

/**
 * Whether a whole command line is harmless: each of its commands only reads what may be read, or is allowed by name.
 * What runs beside or after one that is allowed by name is not proven by any path: that one may have changed it.
 */
export function isHarmless(source: string, ground: Ground, isNamed: Named = () => false): boolean {
  const commands = literalCommands(source);
  if (!commands) return false;
  const moves = commands.some(({ words }) => MOVES.includes(words[0] ?? ""));
  // Otherwise what follows could run although the directory was not changed.
  if (moves && commands.some(({ joint }) => joint === ";" || joint === "||")) return false;
  let dir = ground.start;
  let now = ground;
  for (const pipeline of pipelines(commands)) {
    const [first] = pipeline;
    if (pipeline.length === 1 && first?.words[0] === "cd") {
      const next = directoryOf(first.words, dir, now);
      if (next === undefined) return false;
      dir = next;
      continue;
    }
    if (pipeline.some(({ words }) => MOVES.includes(words[0] ?? ""))) return false;
    if (pipeline.every((command) => onlyReads(command, now, dir))) continue;
    now = blind(ground);
    if (!pipeline.every((command) => onlyReads(command, now, dir) || isNamed(command.parsed, dir))) return false;
  }
  return true;
}

function onlyReads({ words: [name = "", ...rest], joint }: LiteralCommand, ground: Ground, dir: string): boolean {
  const scene = { ground, dir, isFed: joint === "|" };
  return isKnownReader(name, rest, scene) || isSpecialReader(name, rest, scene);
}

/** Where `cd` leads; a name alone is looked up in CDPATH, and `..` means another place to a shell than to the kernel. */
function directoryOf([, path = "", ...rest]: readonly string[], dir: string, ground: Ground): string | undefined {
  if (rest.length > 0 || !/^(?:\/|\.\/|\.$)/.test(path) || path.split("/").includes("..")) return undefined;
  const found = ground.readable(path, dir);
  return found?.kind === "directory" ? found.real : undefined;
}

function pipelines(commands: readonly LiteralCommand[]): LiteralCommand[][] {
  const found: LiteralCommand[][] = [];
  for (const command of commands) {
    const last = found.at(-1);
    if (command.joint === "|" && last) last.push(command);
    else found.push([command]);
  }
  return found;
}
