import { startIn } from "../../../../review/shell/index.ts";
import { textAt } from "../../tool-keys.ts";
import { EDITORS } from "../../tool-kinds.ts";
import { readingsOf } from "../commands/readings.ts";
import { familyOf } from "../commands/same-commands.ts";
import { hostsOf } from "../fetch-pattern.ts";
import { READERS } from "../find.ts";
import type { JudgedCall, Place } from "../judged-call.ts";
import { searchCommandFiles, searchNamedFiles } from "../paths/named-files.ts";
import { foldedPath } from "../paths/path-finder.ts";
import { attempted } from "./attempted.ts";
import type { Outline } from "./outline.ts";

type Findable = Pick<Outline, "commands" | "hosts" | "named" | "reads" | "changes" | "trees">;

/** The parts of a call in which deny and ask rules may find something. */
export function findableIn(judged: JudgedCall): Findable {
  const { call, command } = judged;
  const found: Findable = { ...namedIn(judged), ...(command !== undefined && startedIn(judged)) };
  if (call.toolName === "WebFetch") found.hosts = hostsOf(textAt(call.input, "url"));
  return Object.fromEntries(Object.entries(found).filter(([, all]) => all.length > 0));
}

function namedIn(judged: JudgedCall): Findable {
  const { toolName } = judged.call;
  if (!READERS.includes(toolName) && !EDITORS.includes(toolName)) return {};
  const named = notedPaths(judged.place);
  return searched(() => searchNamedFiles(judged, named.note), { named: named.paths });
}

function startedIn(judged: JudgedCall): Findable {
  const { place, started } = judged;
  const commands = attempted(() =>
    started().commands.flatMap(({ command }) =>
      readingsOf(command)
        // No rule finds a program whose name is unknown before the command runs.
        .filter(({ words }) => !words[0]?.isDynamic)
        .map(({ program, args }) => [familyOf(program), ...args.map(({ value }) => value)]),
    ),
  );
  const [reads, changes, trees] = [notedPaths(place), notedPaths(place), notedPaths(place)];
  return {
    ...(commands && { commands }),
    ...searched(() => searchCommandFiles(judged, { read: reads.note }), { reads: reads.paths }),
    // One search for both, because a rule against changes looks for both within one limit.
    ...searched(() => searchCommandFiles(judged, { changed: changes.note, changedTree: trees.note }), {
      changes: changes.paths,
      trees: trees.paths,
    }),
  };
}

/** The paths that a search looks up; empty if the search fails. */
function searched(search: () => unknown, noted: Partial<Record<keyof Findable, Set<string>>>): Findable {
  if (!attempted(() => [search()])) return {};
  return Object.fromEntries(Object.entries(noted).map(([kind, paths]) => [kind, [...paths]]));
}

/** Collects the paths that a search looks up. Paths below the start are stored without it. */
function notedPaths(place: Place) {
  const start = foldedStart(place);
  const paths = new Set<string>();
  const note = (path: string): undefined => {
    const folded = foldedPath(path);
    paths.add(folded.startsWith(start) ? folded.slice(start.length) : folded);
  };
  return { paths, note };
}

/** The prefix that most paths share. Outlines omit it to save space. */
export function foldedStart({ workingDir }: Place): string {
  return `${foldedPath(startIn(workingDir ?? null).at)}/`;
}
