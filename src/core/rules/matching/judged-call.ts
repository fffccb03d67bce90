import type { SeenFiles } from "../../../files/real-path.ts";
import { type LiteralCommand, literalCommands } from "../literal-command.ts";
import { filesSeenOnce, hasOwnProgramsOnPath, openReadableFiles, type ReadableFiles } from "../readable-files.ts";
import type { ToolCall } from "../tool-call.ts";
import { textAt } from "../tool-keys.ts";
import type { WithheldFiles } from "../withheld-files.ts";
import { type StartedCommands, startedCommands } from "./commands/started-commands.ts";
import { once } from "./once.ts";

/** The place where a call runs. All paths are absolute. */
export type Place = {
  /** Unknown for a claude that was started by hand elsewhere. */
  workingDir: string | undefined;
  addDirs: string[];
  privatePaths: string[];
  home: string;
  path?: string;
};

/** One call, parsed on first use and only once for all rules. */
export type JudgedCall = {
  call: ToolCall;
  place: Place;
  /** The text that the tool passes to a shell. */
  command: string | undefined;
  /** The commands in it, if they consist of literal words only. */
  literal(): readonly LiteralCommand[] | undefined;
  /** Every command that it would start, at any depth of nesting. */
  started(): StartedCommands;
  /** The file system as the child may read it; `undefined` if the working directory is unknown. */
  files(withheld?: WithheldFiles): ReadableFiles | undefined;
  /** Whether a program on the PATH could be the repository's own. */
  hasOwnPrograms(files: ReadableFiles): boolean;
  /** For a past call: the cache of paths that were looked up for other calls. */
  seen?: SeenFiles | undefined;
  /** A search in the call failed, so no proof about it is valid. */
  hasFailed: boolean;
};

/** More than anyone would write in one line. */
const MAX_COMMANDS = 50;
/** Claude Code's tools that run a command in a shell. */
export const SHELL_TOOLS: string[] = ["Bash", "Monitor"];

/** What is known about a place, shared by past calls that are judged together. */
export type SeenPlace = {
  place: Place;
  files: SeenFiles;
  open: (() => ReadableFiles) | undefined;
  hasOwnPrograms(files: ReadableFiles): boolean;
};

/** Looks at a place once for many past calls. A call that needs a decision now looks for itself. */
export function seenPlace(place: Place): SeenPlace {
  const { workingDir } = place;
  const files: SeenFiles = { seen: new Map(), followed: new Map() };
  const open = once(() => (workingDir === undefined ? undefined : filesSeenOnce({ ...place, workingDir }, files)));
  let hasOwn: boolean | undefined;
  return {
    place,
    files,
    get open() {
      return open();
    },
    hasOwnPrograms(files) {
      hasOwn ??= hasOwnProgramsOnPath(place, files);
      return hasOwn;
    },
  };
}

export function judgedCall(call: ToolCall, place: Place, seen?: SeenPlace): JudgedCall {
  const command = SHELL_TOOLS.includes(call.toolName) ? textAt(call.input, "command") : undefined;
  const opened = new Map<WithheldFiles | undefined, ReadableFiles | undefined>();
  return {
    call,
    place,
    command,
    literal: once(() => (command === undefined ? undefined : literalLine(command))),
    started: once(() => startedCommands(command ?? "", place.workingDir)),
    files(withheld) {
      if (!opened.has(withheld)) opened.set(withheld, seen && !withheld ? seen.open?.() : openFiles(place, withheld));
      return opened.get(withheld);
    },
    hasOwnPrograms: (files) => seen?.hasOwnPrograms(files) ?? hasOwnProgramsOnPath(place, files),
    seen: seen?.files,
    hasFailed: false,
  };
}

function literalLine(command: string): readonly LiteralCommand[] | undefined {
  const commands = literalCommands(command, { mayWrite: true });
  return commands && commands.length > MAX_COMMANDS ? undefined : commands;
}

function openFiles({ workingDir, ...place }: Place, withheld: WithheldFiles | undefined): ReadableFiles | undefined {
  if (workingDir === undefined) return undefined;
  return openReadableFiles({ ...place, workingDir, ...(withheld && { withheld }) });
}
