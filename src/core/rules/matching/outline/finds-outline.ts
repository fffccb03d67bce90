import { EDITORS } from "../../tool-kinds.ts";
import { commandFinder } from "../commands/command-finder.ts";
import { soughtCommands } from "../commands/found-command.ts";
import { hostFinder } from "../fetch-pattern.ts";
import { READERS } from "../find.ts";
import { pathFinder } from "../paths/path-finder.ts";
import type { PathPattern } from "../paths/path-pattern.ts";
import type { Pattern } from "../pattern.ts";
import { toolFinder } from "../tool-name.ts";
import { foldedStart } from "./findable.ts";
import type { OutlineCheck } from "./match-outline.ts";
import type { OutlinePlace } from "./outline-place.ts";
import { plainPart } from "./plain-part.ts";

/** The check whether a deny or ask rule finds something in a call. */
export function findsOutline(pattern: Pattern, place: OutlinePlace): OutlineCheck {
  switch (pattern.kind) {
    case "command": {
      const commands = commandFinder([{ order: 0, command: pattern.command }]);
      const programs = soughtCommands(pattern.command).map(({ program }) => JSON.stringify(program));
      return {
        mayMatch: (_, text) => programs.some((program) => text.includes(program)),
        matches: (_, outline) => commands.findRead((outline.commands ?? []).map(readingOf)) !== undefined,
      };
    }
    case "file":
      return findsFiles(pattern.tool, pattern.path, place);
    case "fetch": {
      const hosts = hostFinder([{ order: 0, host: pattern.host }]);
      return {
        mayMatch: (toolName) => toolName === "WebFetch",
        matches: (_, outline) => (outline.hosts ?? []).some((host) => hosts.byName(host) !== undefined),
      };
    }
    case "tool":
      return findsTools(pattern.name);
    case "tools":
      return findsTools(pattern.glob);
  }
}

function findsTools(glob: string): OutlineCheck {
  const found = toolFinder([{ order: 0, glob }]);
  return { mayMatch: (toolName) => found(toolName) !== undefined, matches: () => true };
}

function readingOf([program = "", ...args]: string[]) {
  return { program, words: [], args: args.map((value) => ({ value, isDynamic: false })) };
}

function findsFiles(tool: string, path: PathPattern, place: OutlinePlace): OutlineCheck {
  const { find, findBelow } = pathFinder([{ order: 0, path }]).at(place);
  const start = foldedStart(place);
  const full = (kept: string) => (kept.startsWith("/") ? kept : start + kept);
  const isFound = (paths: readonly string[] = []) => paths.some((kept) => find(full(kept)) !== undefined);
  const leadsBelow = (paths: readonly string[] = []) => paths.some((kept) => findBelow(full(kept)) !== undefined);
  const isRead = tool === "Read";
  const naming = isRead ? READERS : EDITORS;
  const part = plainPart(
    path.names.map((name) => name.toLowerCase()),
    (one) => !start.includes(one),
  );
  return {
    // A directory that changes with everything below it need not contain a name of the pattern.
    mayMatch: (_, text) => part === undefined || text.includes(part) || (!isRead && text.includes('"trees"')),
    matches: (toolName, { named, reads, changes, trees }) => {
      if (naming.includes(toolName) && isFound(named)) return true;
      return isRead ? isFound(reads) : isFound(changes) || leadsBelow(trees);
    },
  };
}
