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

/** What rules to deny or ask may find in a call. */
export function findableIn(judged: JudgedCall): Findable {
  const { call, command } = judged;
  const found: Findable = { ...namedIn(judged), ...(command !== undefined && startedIn(judged)) };
  if (call.toolName === "WebFetch") found.hosts = hostsOf(textAt(call.input, "url"));
  return Object.fromEntries(Object.entries(found).filter(([, all]) => all.length > 0));
}

function namedIn(judged: JudgedCall): Findable {
  const { toolName } = judged.call;
  if (!READERS.includes(toolName) && !EDITORS.includes(toolName)) return {};
  return { named: pathsOf(judged.place, (note) => searchNamedFiles(judged, note)) };
}

function startedIn(judged: JudgedCall): Findable {
  const { place, started } = judged;
  const commands = attempted(() =>
    started().commands.flatMap(({ command }) =>
      readingsOf(command)
        // A program that is known only when it runs is never found.
        .filter(({ words }) => !words[0]?.isDynamic)
        .map(({ program, args }) => [familyOf(program), ...args.map(({ value }) => value)]),
    ),
  );
  let trees: string[] = [];
  const reads = pathsOf(place, (read) => searchCommandFiles(judged, { read }));
  const changes = pathsOf(place, (changed) => {
    trees = pathsOf(place, (changedTree) => searchCommandFiles(judged, { changed, changedTree }));
  });
  return { reads, changes, trees, ...(commands && { commands }) };
}

/** The paths that a search is asked about; none where it fails. */
function pathsOf(place: Place, search: (note: (path: string) => undefined) => unknown): string[] {
  const start = foldedStart(place);
  const paths = new Set<string>();
  const hasEnded = attempted(() => {
    search((path) => {
      const folded = foldedPath(path);
      paths.add(folded.startsWith(start) ? folded.slice(start.length) : folded);
    });
    return true;
  });
  return hasEnded ? [...paths] : [];
}

/** What most paths begin with, so that they are kept without it. */
export function foldedStart({ workingDir }: Place): string {
  return `${foldedPath(startIn(workingDir ?? null).at)}/`;
}
