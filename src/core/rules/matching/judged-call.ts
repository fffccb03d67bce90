import type { SeenFiles } from "../../../files/real-path.ts";
import { type LiteralCommand, literalCommands } from "../literal-command.ts";
import { filesSeenOnce, hasOwnProgramsOnPath, openReadableFiles, type ReadableFiles } from "../readable-files.ts";
import type { ToolCall } from "../tool-call.ts";
import { textAt } from "../tool-keys.ts";
import type { WithheldFiles } from "../withheld-files.ts";
import { type StartedCommands, startedCommands } from "./commands/started-commands.ts";
import { once } from "./once.ts";

/** Where a call runs; all paths are absolute. */
export type Place = {
  /** Not known of a claude that was started by hand elsewhere. */
  workingDir: string | undefined;
  addDirs: string[];
  privatePaths: string[];
  home: string;
  path?: string;
};

/** One call, parsed when that is first needed and once for all rules. */
export type JudgedCall = {
  call: ToolCall;
  place: Place;
  /** The text that a shell would run. */
  command: string | undefined;
  /** Its commands, if it consists of literal words only. */
  literal(): readonly LiteralCommand[] | undefined;
  /** Every command that it would start, however nested. */
  started(): StartedCommands;
  /** The file system as the child may read it; `undefined` where the working directory is not known. */
  files(withheld?: WithheldFiles): ReadableFiles | undefined;
  /** Whether a program on the PATH could be the repository's own. */
  hasOwnPrograms(files: ReadableFiles): boolean;
  /** Of a call of the past: what was seen at paths before. */
  seen?: SeenFiles | undefined;
  /** A search in it has failed, so nothing of it is proven any more. */
  hasFailed: boolean;
};

/** No line that a person would write has more. */
const MAX_COMMANDS = 50;
/** Claude Code's tools that run a command in a shell. */
export const SHELL_TOOLS: string[] = ["Bash", "Monitor"];

/** What calls of the past that are judged together know of their place. */
export type SeenPlace = {
  place: Place;
  files: SeenFiles;
  open: (() => ReadableFiles) | undefined;
  hasOwnPrograms(files: ReadableFiles): boolean;
};

/** Looks at a place once for many calls; a call that is to be decided looks for itself. */
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
