import { readFileSync, statSync } from "node:fs";
import { parse } from "smol-toml";
import { z } from "zod";
import { problemsIn } from "../../contract/arguments/problems.ts";
import { Match, RuleDecision, type RulesFileStatus } from "../../contract/rules/rule.ts";
import { cutText } from "../../contract/text/cut-text.ts";
import { createFinder } from "../rules/matching/find.ts";
import { judgedCall, type Place } from "../rules/matching/judged-call.ts";
import { type Pattern, readMatch } from "../rules/matching/pattern.ts";
import { createProver, type HasDangers } from "../rules/matching/prove.ts";
import type { ToolCall } from "../rules/tool-call.ts";
import { exampleCall } from "./example-call.ts";
import type { CompiledRule } from "./rule-set.ts";

const MAX_BYTES = 1024 * 1024;
const MAX_RULES = 2_000;
const MAX_EXAMPLES = 100;
const MAX_PROBLEMS = 20;
const MAX_PROBLEM_CHARS = 400;

/**
 * A call that a rule must match or must not match. A text is a command, a path, an address or a tool's name, depending
 * on the rule.
 */
const Example = z.union([
  z.string().min(1).max(32_768),
  z.strictObject({ tool_name: z.string().min(1).max(512), input: z.record(z.string(), z.unknown()) }),
]);
export type Example = z.infer<typeof Example>;

const FileRule = z.strictObject({
  decision: RuleDecision,
  match: Match,
  reason: z.string().max(8_000).optional(),
  interrupt: z.boolean().optional(),
  shadow: z.boolean().optional(),
  examples: z
    .strictObject({
      match: z.array(Example).max(MAX_EXAMPLES).default([]),
      not_match: z.array(Example).max(MAX_EXAMPLES).default([]),
    })
    .optional(),
});
type FileRule = z.infer<typeof FileRule>;
const File = z.strictObject({ rule: z.array(z.unknown()).max(MAX_RULES).default([]) });

/** The present rules of the file; `version` increases with each change. */
export type CurrentFile = { version: number; rules: CompiledRule[]; status: RulesFileStatus | undefined };
export type RulesFile = { current(): CurrentFile };

type RulesFileNeed = {
  path: string | undefined;
  /** The place in which the examples are tried. */
  place: Place;
  hasDangers: HasDangers;
  /** Called after each read of the file, with its mistakes if there are any. */
  onRead: (status: RulesFileStatus) => void;
};

/**
 * The operator's rules file. It is read again after each change. A mistake in it disables all of its allow rules, while
 * its deny and ask rules stay in force together with those of the last good version.
 */
export function openRulesFile({ path, place, hasDangers, onRead }: RulesFileNeed): RulesFile {
  let stamp: string | undefined;
  let current: CurrentFile = { version: 0, rules: [], status: undefined };
  let lastGood: CompiledRule[] = [];

  return {
    current() {
      if (path === undefined) return current;
      const now = stampOf(path);
      if (now === stamp) return current;
      stamp = now;
      const { rules, problems, count } = readRules(path, place, hasDangers);
      const isGood = problems.length === 0;
      if (isGood) lastGood = rules;
      const kept = isGood ? rules : strictOnes([...rules, ...lastGood]);
      const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => cutText(problem, MAX_PROBLEM_CHARS));
      const status = { path, ok: isGood, rules: count, problems: shown };
      current = { version: current.version + 1, rules: kept, status };
      onRead(status);
      return current;
    },
  };
}

/** The rules that deny or ask, each only once. */
function strictOnes(rules: CompiledRule[]): CompiledRule[] {
  const strict = rules.filter(({ decision }) => decision !== "allow");
  return strict.filter(({ id }, at) => strict.findIndex((one) => one.id === id) === at);
}

/** A string that changes with the file; a replaced file has another inode. Never throws. */
function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch (cause) {
    return String(cause);
  }
}

type Read = { rules: CompiledRule[]; problems: string[]; count: number };

function readRules(path: string, place: Place, hasDangers: HasDangers): Read {
  const file = contentOf(path);
  if ("problem" in file) return { rules: [], problems: [file.problem], count: 0 };
  const rules: CompiledRule[] = [];
  const problems: string[] = [];
  for (const [at, given] of file.rules.entries()) {
    const parsed = FileRule.safeParse(given);
    const where = `rule ${at + 1}`;
    if (!parsed.success) {
      problems.push(`${where}: ${problemsIn(parsed.error, FileRule, given, "the rule")}`);
      continue;
    }
    const named = `${where} (${parsed.data.decision} ${parsed.data.match})`;
    const read = readMatch(parsed.data.match);
    if ("problem" in read) {
      problems.push(`${named}: match ${read.problem}`);
      continue;
    }
    if (parsed.data.interrupt && parsed.data.decision !== "deny")
      problems.push(`${named}: interrupt goes with deny only`);
    const rule = compiled(parsed.data, read.pattern);
    problems.push(...failures(parsed.data, rule, place, hasDangers).map((failure) => `${named}: ${failure}`));
    rules.push(rule);
  }
  return { rules, problems, count: file.rules.length };
}

function contentOf(path: string): { rules: unknown[] } | { problem: string } {
  try {
    if (statSync(path).size > MAX_BYTES) return { problem: `The file is larger than ${MAX_BYTES} bytes.` };
    const content = parse(readFileSync(path, "utf8"));
    const read = File.safeParse(content);
    return read.success ? { rules: read.data.rule } : { problem: problemsIn(read.error, File, content, "the file") };
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : String(cause) };
  }
}

function compiled({ decision, match, reason, interrupt, shadow }: FileRule, pattern: Pattern): CompiledRule {
  return {
    id: `file-${Bun.hash(`${decision} ${match}`).toString(16)}`,
    decision,
    match,
    pattern,
    reason: reason ?? null,
    interrupt: interrupt === true,
    isShadow: shadow === true,
    hasRow: false,
    createdBy: "operator",
  };
}

function failures({ match, examples }: FileRule, rule: CompiledRule, place: Place, hasDangers: HasDangers): string[] {
  if (!examples) return [];
  const isMatched = (call: ToolCall) => matches(rule, call, place, hasDangers);
  const failing = (given: Example[], wanted: boolean) =>
    given.flatMap((example) => {
      const call = exampleCall(match, example);
      if (call && isMatched(call) === wanted) return [];
      const shown = JSON.stringify(example);
      if (!call) return [`the example ${shown} does not say which call is meant: write {tool_name, input}`];
      return [wanted ? `does not match ${shown}, its example` : `matches ${shown}, which it must not`];
    });
  return [...failing(examples.match, true), ...failing(examples.not_match, false)];
}

/** Whether the rule, on its own, would decide the call. */
export function matches(rule: CompiledRule, call: ToolCall, place: Place, hasDangers: HasDangers): boolean {
  const judged = judgedCall(call, place);
  if (rule.decision === "allow") return createProver([rule], hasDangers).prove(judged, undefined) !== undefined;
  return createFinder([rule]).find(judged) !== undefined;
}
