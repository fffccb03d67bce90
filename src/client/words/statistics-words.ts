import type { Attention, StatisticsRange } from "../../contract/statistics.ts";
import { duration } from "../../contract/text/duration.ts";

export const RANGE_WORDS: Record<StatisticsRange, string> = {
  "24h": "the last 24 hours",
  "7d": "the last 7 days",
  "30d": "the last 30 days",
};

const DECIDERS: Record<string, string> = {
  rule: "rules",
  builtin: "built-in rules",
  brake: "the brake",
  session: "parent sessions",
  timeout: "nobody in time",
  plexus: "nobody: child gone",
};

/** Names a decider; all rules count as one. */
export function deciderWords(by: string): string {
  return DECIDERS[by] ?? by;
}

/** Formats a waiting time with two figures. */
export function waitWords(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds === 0) return "at once";
  return seconds < 10 ? `${Number(seconds.toPrecision(2))}s` : duration(seconds);
}

/** The same after a share, such as "half". */
export function withinWords(seconds: number | null): string {
  return seconds === 0 ? waitWords(seconds) : `within ${waitWords(seconds)}`;
}

/** Formats an amount: cents, or as many digits as show that it is not zero. */
export function dollarWords(amount: number): string {
  if (amount === 0 || amount >= 0.01) return `$${amount.toFixed(2)}`;
  return amount < 0.0001 ? "<$0.0001" : `$${amount.toFixed(4)}`;
}

/** Describes something that needs attention, on one line. */
export function attentionWords(attention: Attention): string {
  switch (attention.kind) {
    case "pending":
      return `${some(attention.count, "request needs", "requests need")} approval, the oldest for ${duration(attention.oldest_secs)}`;
    case "unasked":
      return `${some(attention.count, "call", "calls")} ran although Plexus had not allowed ${attention.count === 1 ? "it" : "them"}`;
    case "timed_out":
      return `${some(attention.count, "request", "requests")} timed out: nobody decided in time`;
    case "failed_turns":
      return `${some(attention.count, "turn", "turns")} failed`;
    case "budget":
      return `${attention.name} has used ${dollarWords(attention.spent_usd)} of its budget of ${dollarWords(attention.max_usd)}`;
    case "rules_file":
      return `The rules file has ${some(attention.problems, "mistake", "mistakes")}: what it allows is switched off`;
    case "webhook":
      return attention.is_gone
        ? `The webhook to ${attention.host} answered 410: it is told nothing until the next start`
        : `The webhook to ${attention.host} does not take what it is told`;
  }
}

function some(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
