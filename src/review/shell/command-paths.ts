import type { CommandLine } from "./dangers/rule.ts";
import { changedPaths } from "./paths/changed-paths.ts";
import { followed, type Links, namedPaths, placesOf } from "./paths/links.ts";
import { after, locate, pathIn, startIn } from "./paths/paths.ts";
import { programCall } from "./programs/programs.ts";
import type { ParsedCommand, SimpleCommand, Word } from "./syntax/parsed-command.ts";

/** Absolute paths: those that a command changes, and those that it only names. */
export type PathsToFollow = { changed: string[]; named: string[] };

/** Returns the first paths of each kind whose links must be followed, at most `most`. */
export function pathsToFollow({ commands }: CommandLine, most: number): PathsToFollow {
  const changed = new Set<string>();
  const named = new Set<string>();
  for (const { command, context } of commands) {
    const collect = (words: Word[], paths: Set<string>): void => {
      for (const word of words) {
        if (paths.size >= most) return;
        for (const { path } of placesOf(word, context.directory)) paths.add(path);
      }
    };
    collect(context.changed, changed);
    collect(named.size < most ? namedPaths(command, context.changed) : [], named);
  }
  return {
    changed: [...changed].slice(0, most),
    named: [...named].filter((path) => !changed.has(path)).slice(0, most),
  };
}

/** Returns the real paths of a command line that `throughLinks` has processed, if they differ from the written ones. */
export function realPathsIn({ commands }: CommandLine): string[] {
  return [...new Set(commands.flatMap(({ context }) => context.real.map(({ value }) => value)))];
}

/** Returns the words of a command that name, or lead to, paths outside the working directory, to mark them. */
export function outsideWords(
  parsed: ParsedCommand,
  workingDir: string | null,
  links: Links,
): { pos: number; end: number }[] {
  let directory = startIn(workingDir);
  return parsed.commands.flatMap((command) => {
    const here = directory;
    directory = after(command, directory);
    const isOutside = (path: string) => ["outside", "temporary"].includes(locate(path, here));
    const call = programCall(command);
    const { named, changed } = followed(call, changedPaths(call), here, links);
    const written = pathWords(command).filter((word) => isOutside(pathIn(word) ?? ""));
    return [...written, ...[...named, ...changed].filter(({ value }) => isOutside(value))];
  });
}

function pathWords({ words, redirects }: SimpleCommand) {
  const targets = redirects.flatMap(({ target }) => target ?? []);
  return [...words, ...targets].filter((word) => pathIn(word) !== undefined);
}
