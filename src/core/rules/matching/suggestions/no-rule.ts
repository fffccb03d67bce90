import { fileOf, searchRoot, touchesFiles } from "../../file-tools.ts";
import { hasKnownKeys, textAt } from "../../tool-keys.ts";
import { EDITORS, SEARCHERS } from "../../tool-kinds.ts";
import type { CommandPattern } from "../commands/command-pattern.ts";
import { shellSyntaxIn } from "../commands/shell-syntax.ts";
import { createDoubts } from "../doubts.ts";
import { plainHost } from "../fetch-pattern.ts";
import type { JudgedCall } from "../judged-call.ts";
import { type Doubt, reasonOf } from "../obstacles.ts";
import type { PathPattern } from "../paths/path-pattern.ts";
import type { Pattern } from "../pattern.ts";
import { createProver, type HasDangers } from "../prove.ts";
import { type InForce, wouldAllow } from "../suggest.ts";
import { neededCommands } from "./suggested-commands.ts";

type Rule = { id: string; pattern: Pattern };

const SEVERAL: Omit<Doubt, "id"> = { obstacle: "several" };

/**
 * Why no allow rule, whatever its pattern, would decide this call, in words that follow "since" and may quote the call;
 * `undefined` if one would. No other pattern covers more of the call than the ones tried here.
 */
export function whyNoRule(judged: JudgedCall, hasDangers: HasDangers, inForce: InForce): string | undefined {
  const { withheld, isSuspect } = inForce;
  const rules = patternsFor(judged).map((pattern, at): Rule => ({ id: String(at), pattern }));
  if (rules.some(({ pattern }) => wouldAllow(pattern, judged, hasDangers, inForce))) return undefined;
  // Exact words cover no shell syntax, so a danger of the command is not the reason.
  const source = judged.command;
  if (source !== undefined && judged.literal() === undefined && hasKnownKeys(judged.call.toolName, judged.call.input))
    return reasonOf({ obstacle: "syntax", about: shellSyntaxIn(source) });
  const isProvenByAll = createProver(rules, hasDangers).prove(judged, withheld, isSuspect) !== undefined;
  const doubt = isProvenByAll ? SEVERAL : createDoubts(rules, hasDangers)(judged, withheld, isSuspect);
  return reasonOf(doubt ?? { obstacle: "unproven" });
}

/** Rules by name, which cover the most calls, and exact rules, which cover what no wildcard does. */
function patternsFor(judged: JudgedCall): Pattern[] {
  const { toolName } = judged.call;
  return [{ kind: "tools", glob: "*" }, { kind: "tool", name: toolName }, ...exactly(judged)];
}

function exactly(judged: JudgedCall): Pattern[] {
  const { call } = judged;
  if (call.toolName === "Bash") return [...commandsOf(judged), ...writtenBy(judged)];
  const files = touchesFiles(call) ? judged.files() : undefined;
  if (files) {
    const isSearch = SEARCHERS.includes(call.toolName);
    const found = isSearch ? searchRoot(call, files) : fileOf(call, files);
    if (!found) return [];
    const tool = EDITORS.includes(call.toolName) ? "Edit" : "Read";
    const below = isSearch && found.kind === "directory" ? ["**"] : [];
    return [{ kind: "file", tool, path: pathTo(found.real, below) }];
  }
  const domain = call.toolName === "WebFetch" ? plainHost(textAt(call.input, "url")) : undefined;
  return domain === undefined ? [] : [{ kind: "fetch", host: { domain, isBelow: false } }];
}

/** The exact words of each command that needs a rule, and wildcards after the words that all of them begin with. */
function commandsOf(judged: JudgedCall): Pattern[] {
  const commands = neededCommands(judged).map(({ words }) => words);
  const [first = [], ...others] = commands;
  const shared = first.findIndex((word, at) => others.some((words) => words[at] !== word));
  const common = first.slice(0, shared < 0 ? first.length : shared);
  const patterns: CommandPattern[] = [
    ...commands.map((words) => ({ words, hasWildcard: false })),
    ...common.map((_, at) => ({ words: common.slice(0, at + 1), hasWildcard: true })),
  ];
  return patterns.map((command) => ({ kind: "command", command }));
}

/** Each output file, and a rule for all edits. */
function writtenBy(judged: JudgedCall): Pattern[] {
  const files = judged.files();
  const paths = judged.literal()?.flatMap(({ writes }) => writes) ?? [];
  if (!files || paths.length === 0) return [];
  const exact = paths.flatMap((path): Pattern[] => {
    const real = files.find(path, files.start)?.real;
    return real === undefined ? [] : [{ kind: "file", tool: "Edit", path: pathTo(real) }];
  });
  return [{ kind: "tool", name: "Edit" }, ...exact];
}

function pathTo(real: string, below: readonly string[] = []): PathPattern {
  const names = real.split("/").filter((name) => name !== "");
  return { root: "absolute", names: [...names, ...below] };
}
