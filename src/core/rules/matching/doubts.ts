import { resolve } from "node:path";
import { follow } from "../../../files/real-path.ts";
import { dangersIn, parseCommand, type SimpleCommand } from "../../../review/shell/index.ts";
import { fileOf, searchRoot, touchesFiles } from "../file-tools.ts";
import { DIRECTORY_CHANGES, isHarmlessLine } from "../harmless-command.ts";
import type { ReadableFiles } from "../readable-files.ts";
import type { ToolCall } from "../tool-call.ts";
import { hasKnownKeys, oddArgument, textAt } from "../tool-keys.ts";
import { EDITORS, SEARCHERS } from "../tool-kinds.ts";
import type { WithheldFiles } from "../withheld-files.ts";
import { type CommandPattern, dangersOf, obstacleTo } from "./commands/command-pattern.ts";
import { commandProver } from "./commands/command-prover.ts";
import { shellSyntaxIn } from "./commands/shell-syntax.ts";
import { mayPrintWithheld } from "./commands/stored/withheld-contents.ts";
import { coversHost, hostOf, plainHost } from "./fetch-pattern.ts";
import type { JudgedCall } from "./judged-call.ts";
import type { Doubt, Obstacle } from "./obstacles.ts";
import { fileProver, isFor } from "./paths/file-prover.ts";
import { matchesText, seemsToCover } from "./paths/path-pattern.ts";
import type { Pattern } from "./pattern.ts";
import { placed } from "./placed.ts";
import { type HasDangers, obstacleByName, writing } from "./prove.ts";
import { toolProver } from "./tool-name.ts";

type Placed = { order: number; command: CommandPattern };
/** The obstacle that keeps the rule at this place from covering the call. */
type Found = Omit<Doubt, "id"> & { order: number };

/**
 * Explains why a call needs approval although a rule seems to allow it. It repeats the checks of the proof one by one
 * for the nearest rule. No decision depends on the result, so this may be slow.
 */
export function createDoubts(rules: readonly { id: string; pattern: Pattern }[], hasDangers: HasDangers) {
  const names = toolProver([
    ...placed(rules, "tool").map(({ order, name }) => ({ order, glob: name })),
    ...placed(rules, "tools"),
  ]);
  const commands = placed(rules, "command");
  const any = names("Bash");
  const coveringAny = commandProver(commands, any);
  const coveringExactly = commandProver(
    commands.filter(({ command }) => !command.hasWildcard),
    undefined,
  );
  const filePatterns = placed(rules, "file");
  const fileRule = fileProver(filePatterns);

  /** The rule that shares the most leading words with one of these commands; a rule for all commands comes last. */
  function nearest(started: readonly (readonly string[])[]): Placed | undefined {
    const all = any === undefined ? commands : [...commands, { order: any, command: ANY }];
    const begins = all.filter(({ command }) =>
      started.some((words) => command.words.every((word, at) => word === words[at])),
    );
    return begins.toSorted((a, b) => b.command.words.length - a.command.words.length)[0];
  }

  function mayWrite(call: ToolCall, files: ReadableFiles, home: string): boolean {
    if (fileRule(call, files, home) !== undefined) return true;
    return names(call.toolName) !== undefined && obstacleByName(call, () => files, hasDangers) === undefined;
  }

  function inCommand(judged: JudgedCall, withheld: WithheldFiles | undefined, isSuspect: boolean): Found | undefined {
    const { call, place, command: source = "", literal, started } = judged;
    const files = judged.files(withheld);
    const near = nearest(started().commands.map(({ command }) => wordsOf(command)));
    if (!near) return undefined;
    const doubt = (obstacle: Obstacle, about?: string): Found => ({ order: near.order, obstacle, about });
    if (!hasKnownKeys(call.toolName, call.input)) return { order: near.order, ...inArguments(call) };
    const line = literal();
    if (!line) {
      const danger = near.command.hasWildcard ? dangersIn(parseCommand(source), files?.start ?? null)[0] : undefined;
      return danger ? doubt("wildcard_danger", danger.message) : doubt("syntax", shellSyntaxIn(source));
    }
    if (withheld && mayPrintWithheld(judged, withheld)) return doubt("stored");
    if (!files) return doubt("place");
    if (judged.hasOwnPrograms(files)) return doubt("own_programs");
    if (!started().isComplete) return doubt("unreadable");
    let last: Found | undefined;
    const isAllowed = (one: SimpleCommand, dir: string) => {
      const own = nearest([wordsOf(one)]);
      if (dir !== files.start) last = doubt("directory");
      else if (!own) last = doubt("uncovered", wordsOf(one).join(" "));
      else if ((isSuspect ? coveringExactly : coveringAny)(one, source, files) !== undefined) return true;
      else last = { order: own.order, ...inWords(own.command, one, source, files, isSuspect) };
      return false;
    };
    const mayWriteTo = (path: string, dir: string) => {
      if (mayWrite(writing(path, dir), files, place.home)) return true;
      last = doubt("redirect", path);
      return false;
    };
    if (isHarmlessLine(line, files, isAllowed, mayWriteTo)) return undefined;
    // An output file that may not be written explains more than the command before it does.
    if (!last) line.some(({ writes }) => writes.some((path) => !mayWriteTo(path, files.start)));
    const changesDirectory = line.some(({ words }) => DIRECTORY_CHANGES.includes(words[0] ?? ""));
    return last ?? doubt(changesDirectory ? "directory" : "line");
  }

  function inFile(call: ToolCall, files: ReadableFiles, home: string): Found | undefined {
    const path = textAt(call.input, PATH_KEYS.get(call.toolName) ?? "file_path");
    const found = SEARCHERS.includes(call.toolName) ? searchRoot(call, files) : fileOf(call, files);
    const roots = { workingDir: files.start, home: follow(home)?.real ?? home };
    const looksCovered = (at: string | undefined) =>
      at === undefined
        ? undefined
        : filePatterns.find(
            ({ tool, path: pattern }) => isFor(tool, call.toolName) && seemsToCover(pattern, at, roots),
          );
    const written = path === undefined ? files.start : resolve(files.start, path);
    const byReal = looksCovered(found?.real);
    const near = byReal ?? looksCovered(written);
    if (!near) return undefined;
    const { order } = near;
    if (!hasKnownKeys(call.toolName, call.input)) return { order, ...inArguments(call) };
    if (!found) return { order, obstacle: "unfollowed" };
    if (files.isPrivate(found)) return { order, obstacle: "private" };
    if (!byReal) return { order, obstacle: "elsewhere", about: found.real };
    if (found.kind === "missing" && !EDITORS.includes(call.toolName)) return { order, obstacle: "missing" };
    return { order, obstacle: SEARCHERS.includes(call.toolName) ? "search" : "control_file" };
  }

  function inFetch(call: ToolCall): Found | undefined {
    const url = textAt(call.input, "url");
    const host = hostOf(url);
    const near = placed(rules, "fetch").find((one) => host !== undefined && coversHost(one.host, host));
    if (!near) return undefined;
    const { order } = near;
    if (!hasKnownKeys(call.toolName, call.input)) return { order, ...inArguments(call) };
    return { order, obstacle: plainHost(url) === undefined ? "address" : "dangerous" };
  }

  function inName(call: ToolCall, files: () => ReadableFiles | undefined): Found | undefined {
    const order = names(call.toolName);
    if (order === undefined) {
      const star = placed(rules, "tools").find(({ glob }) => matchesText(glob, call.toolName));
      if (!star) return undefined;
      return { order: star.order, obstacle: call.toolName.startsWith("mcp__") ? "server" : "unknown_tool" };
    }
    const obstacle = obstacleByName(call, files, hasDangers);
    return obstacle && { order, ...(obstacle === "arguments" ? inArguments(call) : { obstacle }) };
  }

  /**
   * The nearest rule, and the obstacle that keeps it from covering the call; `undefined` if no rule seems to cover it.
   */
  return (judged: JudgedCall, withheld: WithheldFiles | undefined, isSuspect: boolean): Doubt | undefined => {
    const { call, place } = judged;
    const files = () => judged.files(withheld);
    try {
      const here = touchesFiles(call) ? files() : undefined;
      const found =
        call.toolName === "Bash"
          ? inCommand(judged, withheld, isSuspect)
          : ((here && inFile(call, here, place.home)) ??
            (call.toolName === "WebFetch" ? inFetch(call) : undefined) ??
            inName(call, files));
      const rule = found && rules[found.order];
      return rule && { id: rule.id, obstacle: found.obstacle, about: found.about };
    } catch {
      // The proof failed for the same reason.
      return undefined;
    }
  };
}

/** A rule for all commands. */
const ANY: CommandPattern = { words: [], hasWildcard: true };

/** The key of the path, for tools that do not use `file_path`. */
const PATH_KEYS = new Map([
  ["NotebookEdit", "notebook_path"],
  ...SEARCHERS.map((tool): [string, string] => [tool, "path"]),
]);

function wordsOf({ words }: Pick<SimpleCommand, "words">): string[] {
  return words.map(({ value }) => value);
}

/** The obstacle that keeps a pattern from covering a command of the line, with the word or danger that causes it. */
function inWords(
  pattern: CommandPattern,
  command: SimpleCommand,
  source: string,
  files: ReadableFiles,
  isSuspect: boolean,
): Omit<Found, "order"> {
  const obstacle = obstacleTo(pattern, command, source, files);
  if (obstacle === undefined)
    return isSuspect ? { obstacle: "suspect" } : { obstacle: "program", about: wordsOf(command)[0] };
  if (obstacle === "danger") return { obstacle, about: dangersOf(command, source, files.start)[0]?.message };
  const kept = command.words.slice(0, pattern.words.length);
  const rest = command.words.slice(pattern.words.length);
  const culprit = rest.find(
    (word) => obstacleTo(pattern, { ...command, words: [...kept, word] }, source, files) === obstacle,
  );
  return { obstacle, about: culprit?.value };
}

/** The obstacle in the arguments of a call, with the key of the argument that causes it. */
function inArguments({ toolName, input }: ToolCall): Omit<Found, "order"> {
  const odd = oddArgument(toolName, input);
  if (!odd) return { obstacle: "shell_tool" };
  return { obstacle: odd.kind === "asks" ? "arguments" : odd.kind, about: odd.key };
}
