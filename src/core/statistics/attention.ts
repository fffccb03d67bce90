import type { RulesFileStatus } from "../../contract/rules/rule.ts";
import type { Attention, Statistics } from "../../contract/statistics.ts";

/** The part of a budget from which on it is reported. */
const NEARLY_SPENT = 0.8;

type AttentionNeed = {
  present: { pending: number; oldestPendingAt: number | null };
  totals: Pick<Statistics["totals"], "unasked" | "failed_turns">;
  timedOut: number;
  budgets: Statistics["budgets"];
  /** The state of the server, for the operator only. */
  server: { rulesFile: RulesFileStatus | undefined; webhooks: { host: string; is_gone: boolean }[] } | undefined;
  now: number;
};

/** What needs attention, most urgent first. */
export function attentionTo({ present, totals, timedOut, budgets, server, now }: AttentionNeed): Attention[] {
  const { pending, oldestPendingAt } = present;
  const found: Attention[] = [];
  if (totals.unasked > 0) found.push({ kind: "unasked", count: totals.unasked });
  if (server?.rulesFile && !server.rulesFile.ok)
    found.push({ kind: "rules_file", problems: server.rulesFile.problems.length });
  if (pending > 0)
    found.push({
      kind: "pending",
      count: pending,
      oldest_secs: Math.max(0, Math.floor((now - (oldestPendingAt ?? now)) / 1000)),
    });
  for (const { host, is_gone } of server?.webhooks ?? []) found.push({ kind: "webhook", host, is_gone });
  for (const budget of budgets)
    if (budget.spent_usd >= budget.max_usd * NEARLY_SPENT) found.push({ kind: "budget", ...budget });
  if (timedOut > 0) found.push({ kind: "timed_out", count: timedOut });
  if (totals.failed_turns > 0) found.push({ kind: "failed_turns", count: totals.failed_turns });
  return found;
}
