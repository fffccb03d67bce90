import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { RuleDecision, type SessionRule } from "../../../contract/rules/rule.ts";
import type { Warned } from "../../../contract/sessions/answers.ts";
import type { SessionDetail } from "../../../contract/sessions/session-view.ts";
import { SUPERVISION_MEANING, Supervision } from "../../../contract/sessions/supervision.ts";
import { printable } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";

export type SessionFlags = {
  dir?: string;
  model?: string;
  systemPrompt?: string;
  supervision?: Supervision;
  allowedTools?: string[];
  disallowedTools?: string[];
  rule?: SessionRule[];
  addDir?: string[];
  maxTurns?: number;
  maxBudgetUsd?: number;
  approvalTimeoutSecs?: number;
};

/** Settings of a session, with the names of the API. */
export type Settings = Partial<
  Pick<
    SessionDetail,
    | "working_dir"
    | "model"
    | "system_prompt"
    | "supervision"
    | "allowed_tools"
    | "disallowed_tools"
    | "rules"
    | "add_dirs"
    | "max_turns"
    | "max_budget_usd"
    | "loopback_timeout_secs"
  >
>;

/** Adds the flags of a session's settings. */
export function withSessionFlags(command: Command, usualDirectory = ""): Command {
  return command
    .option("--dir <DIR>", `where the child works${usualDirectory}`)
    .option("--model <MODEL>", "the model, as Claude Code names it")
    .option("--system-prompt <TEXT>", "added to Claude Code's own system prompt")
    .addOption(supervisionOption())
    .option(
      "--allowed-tools <RULE>",
      "calls that need no approval, but not in strict; may be given several times",
      collected,
    )
    .option("--disallowed-tools <RULE>", "a tool that never runs; may be given several times", collected)
    .option("--rule <RULE>", 'a rule of the session, such as "allow Bash(npm test)"; may be given several times', rules)
    .option("--add-dir <DIR>", "a further directory to work in; may be given several times", collected)
    .option("--max-turns <N>", "how many model turns one prompt may take", wholeNumber)
    .option("--max-budget-usd <USD>", "what all turns of the session may cost together", dollars)
    .option("--approval-timeout-secs <N>", "how long a request waits before it is denied", wholeNumber);
}

/** The option with the meaning of each choice, and the default. */
export function supervisionOption(): Option {
  const meanings = Supervision.options.map((level) => `${level}: ${SUPERVISION_MEANING[level]}`);
  return new Option("--supervision <LEVEL>", `${meanings.join("; ")} (default: "default")`).choices(
    Supervision.options,
  );
}

/** Only the settings that the flags give. */
export function settingsOf(flags: SessionFlags): Settings {
  return {
    ...(flags.dir !== undefined && { working_dir: realPath(flags.dir) }),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.systemPrompt !== undefined && { system_prompt: flags.systemPrompt }),
    ...(flags.supervision !== undefined && { supervision: flags.supervision }),
    ...(flags.allowedTools !== undefined && { allowed_tools: flags.allowedTools }),
    ...(flags.disallowedTools !== undefined && { disallowed_tools: flags.disallowedTools }),
    ...(flags.rule !== undefined && { rules: flags.rule }),
    ...(flags.addDir !== undefined && { add_dirs: flags.addDir.map(realPath) }),
    ...(flags.maxTurns !== undefined && { max_turns: flags.maxTurns }),
    ...(flags.maxBudgetUsd !== undefined && { max_budget_usd: flags.maxBudgetUsd }),
    ...(flags.approvalTimeoutSecs !== undefined && { loopback_timeout_secs: flags.approvalTimeoutSecs }),
  };
}

/** Prints warnings about settings without effect to standard error. */
export function printWarnings({ warnings = [] }: Warned, terminal: Terminal): void {
  for (const warning of warnings) terminal.err(`Warning: ${printable(warning)}\n`);
}

/** The real path, as the server sees it. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function collected(value: string, before: string[] = []): string[] {
  return [...before, value];
}

function rules(value: string, before: SessionRule[] = []): SessionRule[] {
  const [, word, match = ""] = /^\s*(\S+)\s+(.*\S)\s*$/.exec(value) ?? [];
  const decision = RuleDecision.safeParse(word);
  if (decision.success) return [...before, { decision: decision.data, match }];
  throw new InvalidArgumentError('It must be allow, deny or ask, and then the calls: "allow Bash(npm test)".');
}

export function wholeNumber(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number.");
}

function dollars(value: string): number {
  if (/^\d{1,7}(\.\d{1,6})?$/.test(value) && Number(value) > 0) return Number(value);
  throw new InvalidArgumentError("It must be an amount in US dollars, such as 2.50.");
}
