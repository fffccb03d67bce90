import { gitArguments } from "../../../review/shell/programs/git-arguments.ts";
import type { ProgramCall } from "../../../review/shell/programs/programs.ts";
import { textAt } from "../tool-keys.ts";
import { EDITORS, SEARCHERS } from "../tool-kinds.ts";
import type { WithheldFiles } from "../withheld-files.ts";
import { commandFinder } from "./commands/command-finder.ts";
import type { StartedCommand } from "./commands/started-commands.ts";
import { mayPrintWithheld } from "./commands/stored/withheld-contents.ts";
import { type HostFinder, hostFinder } from "./fetch-pattern.ts";
import { firstOf } from "./first-order.ts";
import type { JudgedCall, Place } from "./judged-call.ts";
import { mayChangeFiles, mayFindFiles, searchCommandFiles, searchNamedFiles } from "./paths/named-files.ts";
import { type PathFinder, pathFinder, withheldFiles } from "./paths/path-finder.ts";
import type { Pattern } from "./pattern.ts";
import { placed } from "./placed.ts";
import { toolFinder } from "./tool-name.ts";

/** Searches a call for anything that deny or ask rules match. */
export type Finder = {
  /** The id of the first rule, in the given order, that matches something in the call. */
  find(call: JudgedCall): string | undefined;
  /** Whether a rule that was not found could still match, so that no wildcard may allow the call. */
  suspects(call: JudgedCall): boolean;
  /** The files that these rules forbid to read. A proof must treat them as private. */
  withheld(place: Place): WithheldFiles;
};

type Rule = { id: string; pattern: Pattern };

/** Tools that read the files that their input names; an edit shows the lines around it. */
export const READERS = [
  "Read",
  "NotebookRead",
  "LS",
  "LSP",
  ...SEARCHERS,
  ...EDITORS.filter((tool) => tool !== "Write"),
];

export function createFinder(rules: readonly Rule[]): Finder {
  const commands = commandFinder(placed(rules, "command"));
  const tools = toolFinder([
    ...placed(rules, "tool").map(({ order, name }) => ({ order, glob: name })),
    ...placed(rules, "tools"),
  ]);
  const hosts = hostFinder(placed(rules, "fetch"));
  const files = placed(rules, "file");
  const reads = pathFinder(files.filter(({ tool }) => tool === "Read"));
  const edits = pathFinder(files.filter(({ tool }) => tool !== "Read"));

  const search = (judged: JudgedCall): number | undefined => {
    const { call, place } = judged;
    const found = [
      tools(call.toolName),
      commands.find(judged.started().commands),
      call.toolName === "WebFetch" ? hosts.find(textAt(call.input, "url")) : undefined,
    ];
    const read = READERS.includes(call.toolName) && !reads.isEmpty ? reads.at(place).find : undefined;
    if (read) found.push(searchNamedFiles(judged, read));
    const edit = EDITORS.includes(call.toolName) && !edits.isEmpty ? edits.at(place).find : undefined;
    if (edit) found.push(searchNamedFiles(judged, edit));
    if (judged.command !== undefined) found.push(searchCommandFiles(judged, searchesIn(reads, edits, place)));
    return firstOf(found);
  };

  const keepsAll = tools("Read") !== undefined;
  /** Whether no rule concerns programs or files. */
  const isAboutNothing = commands.isEmpty && reads.isEmpty && edits.isEmpty && !keepsAll;
  /** Directories are visited once for each call: every call has its own `Place`. */
  const withheldFrom = new WeakMap<Place, WithheldFiles>();
  const withheldIn = (place: Place): WithheldFiles => {
    const withheld = keepsAll ? ALL_FILES : (withheldFrom.get(place) ?? withheldFiles(reads, place));
    withheldFrom.set(place, withheld);
    return withheld;
  };

  return {
    find(judged) {
      try {
        const order = search(judged);
        return order === undefined ? undefined : rules[order]?.id;
      } catch {
        judged.hasFailed = true;
        return undefined;
      }
    },
    suspects(judged) {
      if (judged.command === undefined) return false;
      try {
        const started = judged.started();
        if (!started.isComplete && !isAboutNothing) return true;
        if (commands.suspects(started.commands)) return true;
        if (!hosts.isEmpty && namesHost(hosts, started.commands)) return true;
        if (!edits.isEmpty && mayChangeFiles(judged, edits.at(judged.place))) return true;
        const withheld = keepsAll || !reads.isEmpty ? withheldIn(judged.place) : undefined;
        return withheld !== undefined && (mayPrintWithheld(judged, withheld) || mayFindFiles(judged, withheld));
      } catch {
        return true;
      }
    },
    withheld: withheldIn,
  };
}

/** For a rule on `Read` itself. Missing files are not private, because any word could be the path of one. */
const ALL_FILES: WithheldFiles = {
  isPrivate: ({ kind }) => kind !== "missing",
  holdsPrivate: ({ kind }) => kind === "directory",
  mayHold: () => true,
};

/** Whether a word of the commands names a host that a rule forbids. */
function namesHost(hosts: HostFinder, commands: readonly StartedCommand[]): boolean {
  return commands.some(
    ({ command }) => !isPlainCommit(command) && command.args.some(({ value }) => hosts.findIn(value) !== undefined),
  );
}

/** `git commit` connects to no host, whatever its message quotes; options before the verb could change that. */
function isPlainCommit(command: ProgramCall): boolean {
  if (command.program !== "git") return false;
  const { before, verb } = gitArguments(command);
  return verb === "commit" && before.options.length === 0;
}

function searchesIn(reads: PathFinder, edits: PathFinder, place: Place) {
  const read = reads.isEmpty ? undefined : reads.at(place);
  const edit = edits.isEmpty ? undefined : edits.at(place);
  return {
    ...(read && { read: read.find }),
    ...(edit && { changed: edit.find, changedTree: edit.findBelow }),
  };
}
