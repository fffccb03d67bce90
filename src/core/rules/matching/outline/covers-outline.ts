import type { CommandPattern } from "../commands/command-pattern.ts";
import { coversHost, type FetchPattern } from "../fetch-pattern.ts";
import { coveredTarget, type FileTarget, isFor } from "../paths/file-prover.ts";
import type { PathPattern } from "../paths/path-pattern.ts";
import type { Pattern } from "../pattern.ts";
import { toolProver } from "../tool-name.ts";
import type { OutlineCheck } from "./match-outline.ts";
import { type Coverable, MOST_FRONT_WORDS, type ProvableLine, type Written } from "./outline.ts";
import type { OutlinePlace } from "./outline-place.ts";
import { plainPart } from "./plain-part.ts";

/**
 * What one rule covers of a line: its commands and the files that it writes. `undefined` means that only a full check
 * of the call can tell.
 */
type Covers = { command(one: Coverable): boolean | undefined; written(one: Written): boolean };

/** The check whether one allow rule covers a call. */
export function coversOutline(pattern: Pattern, place: OutlinePlace): OutlineCheck {
  switch (pattern.kind) {
    case "command":
      return coversCommands(pattern.command);
    case "file":
      return coversFiles(pattern.tool, pattern.path, place);
    case "fetch":
      return coversFetches(pattern.host);
    case "tool":
      return coversTools(pattern.name);
    case "tools":
      return coversTools(pattern.glob);
  }
}

function coversCommands({ words, hasWildcard }: CommandPattern): OutlineCheck {
  const [program = ""] = words;
  const inText = JSON.stringify(program);
  const covers: Covers = {
    command: (one) => {
      if (!words.every((word, at) => word === one.words[at])) return false;
      if (!hasWildcard) return words.length === one.words.length && one.isExact === true;
      return words.length > MOST_FRONT_WORDS ? undefined : one.wild[words.length] === "1";
    },
    written: () => false,
  };
  return {
    mayMatch: (toolName, text) => toolName === "Bash" && text.includes(inText),
    matches: (_, { line }) => line !== undefined && isCovered(line, covers),
  };
}

function coversTools(glob: string): OutlineCheck {
  const covered = toolProver([{ order: 0, glob }]);
  const coversTool = (name: string) => covered(name) !== undefined;
  const isForWrites = coversTool("Write");
  const covers: Covers = {
    command: ({ wild }) => coversTool("Bash") && wild[0] === "1",
    written: ({ isNamed }) => isForWrites && isNamed === true,
  };
  const isForCommands = coversTool("Bash") || isForWrites;
  return {
    mayMatch: (toolName, text) =>
      toolName === "Bash" ? isForCommands && text.includes('"line"') : coversTool(toolName),
    matches: (toolName, { isNamed, line }) =>
      toolName === "Bash" ? line !== undefined && isCovered(line, covers) : isNamed === true,
  };
}

function coversFiles(tool: string, path: PathPattern, { realStart, realHome }: OutlinePlace): OutlineCheck {
  const roots =
    realStart === undefined || realHome === undefined ? undefined : { workingDir: realStart, home: realHome };
  const coversTarget = (target: FileTarget | undefined) =>
    target !== undefined && roots !== undefined && coveredTarget(target, roots)(path);
  const isForWrites = isFor(tool, "Write");
  const part = plainPart(path.names) ?? '"target"';
  const covers: Covers = {
    command: () => false,
    written: ({ target }) => isForWrites && coversTarget(target),
  };
  return {
    mayMatch: (toolName, text) => (toolName === "Bash" ? isForWrites : isFor(tool, toolName)) && text.includes(part),
    matches: (toolName, { target, line }) =>
      toolName === "Bash" ? line !== undefined && isCovered(line, covers) : coversTarget(target),
  };
}

function coversFetches(pattern: FetchPattern): OutlineCheck {
  return {
    mayMatch: (toolName) => toolName === "WebFetch",
    matches: (_, { host }) => host !== undefined && coversHost(pattern, host),
  };
}

function isCovered({ needs = [], writes = [], reads = [] }: ProvableLine, covers: Covers): boolean | undefined {
  if (!writes.every(covers.written)) return false;
  const commands = (reads.length > 0 ? reads : needs).map(covers.command);
  if (reads.length > 0) return commands.includes(true) || (commands.includes(undefined) ? undefined : false);
  return !commands.includes(false) && (commands.includes(undefined) ? undefined : true);
}
