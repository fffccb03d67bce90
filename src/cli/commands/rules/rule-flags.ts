import { Argument, type Command, InvalidArgumentError } from "commander";
import { UsageError } from "../../../config.ts";
import { RuleDecision, type RuleInput, type RuleUpdate } from "../../../contract/rules/rule.ts";
import { timeSpan } from "../approvals/time-span.ts";
import { wholeNumber } from "../sessions/session-flags.ts";

export const MATCH_HELP = 'the calls, such as "Bash(npm run *)" or "Edit(./src/**)"';
const NEVER = "never";
const UNLIMITED = "unlimited";

export type RuleFlags = {
  reason?: string;
  interrupt?: boolean;
  expires?: number | typeof NEVER;
  uses?: number | typeof UNLIMITED;
  shadow?: true;
  live?: true;
};

export function decisionArgument(name: string): Argument {
  return new Argument(name, "what becomes of the calls").choices(RuleDecision.options);
}

/** Adds the flags for everything in a rule except its decision and match. */
export function withRuleFlags(command: Command): Command {
  return command
    .option("--reason <TEXT>", "with deny: what the agent is told")
    .option("--interrupt", "with deny: end the child's turn too")
    .option("--expires <TIME>", "for how long it counts: 90s, 30m, 2h, 7d", span)
    .option("--uses <N>", "how many calls it may decide", wholeNumber)
    .option("--shadow", "decide nothing, and record what it would have decided");
}

/** The same for an existing rule, whose limits can be removed. */
export function withChangeFlags(command: Command): Command {
  return command
    .option("--reason <TEXT>", 'with deny: what the agent is told; "" takes it away')
    .option("--interrupt", "with deny: end the child's turn too")
    .option("--no-interrupt", "let the turn go on")
    .option("--expires <TIME>", `for how long it counts from now on: 90s, 30m, 2h, 7d, or ${NEVER}`, spanOrNever)
    .option("--uses <N>", `how many more calls it may decide, or ${UNLIMITED}`, usesOrUnlimited)
    .option("--shadow", "decide nothing, and record what it would have decided")
    .option("--live", "decide, after a time as --shadow");
}

type Settings = Pick<RuleInput, "reason" | "interrupt" | "expires_in_secs" | "uses" | "mode">;

export function settingsOf({ reason, interrupt, expires, uses, shadow }: RuleFlags): Settings {
  return {
    ...(reason !== undefined && { reason }),
    ...(interrupt && { interrupt }),
    ...(typeof expires === "number" && { expires_in_secs: expires }),
    ...(typeof uses === "number" && { uses }),
    ...(shadow && { mode: "shadow" }),
  };
}

export function changesOf({ reason, interrupt, expires, uses, shadow, live }: RuleFlags): RuleUpdate {
  if (shadow && live) throw new UsageError("Give --shadow or --live, not both.");
  return {
    ...(reason !== undefined && { reason }),
    ...(interrupt !== undefined && { interrupt }),
    ...(expires !== undefined && { expires_in_secs: expires === NEVER ? null : expires }),
    ...(uses !== undefined && { uses: uses === UNLIMITED ? null : uses }),
    ...((shadow || live) && { mode: shadow ? "shadow" : "live" }),
  };
}

function span(value: string): number {
  const seconds = timeSpan(value);
  if (!seconds) throw new InvalidArgumentError("It must be like 90s, 30m, 2h or 7d.");
  return seconds;
}

function spanOrNever(value: string): number | typeof NEVER {
  return value === NEVER ? NEVER : span(value);
}

function usesOrUnlimited(value: string): number | typeof UNLIMITED {
  return value === UNLIMITED ? UNLIMITED : wholeNumber(value);
}
