import type { LeftRunning } from "../../contract/sessions/left-running.ts";
import type { TurnEnd } from "../../storage/turns.ts";
import type { ChildEnd } from "./child-output.ts";

/** The final status of a turn, with its error. */
export type TurnOutcome = Pick<TurnEnd, "status" | "error">;

/** Why a child was stopped, and the processes that could not be stopped. */
export type Stop = { why: string; left: Promise<LeftRunning[]> };

const MAX_NAMED = 10;

/**
 * Determines the outcome of a turn, after a stop that is still in progress. `interruption` is the reason of a denial
 * that ended the turn.
 */
export async function outcomeOf(
  { verdict, left }: ChildEnd,
  stop: Stop | undefined,
  interruption: string | undefined,
): Promise<TurnOutcome> {
  if (stop) return { status: "cancelled", error: naming(await stop.left, stop.why) };
  // The CLI's own verdict does not count here: it reports an error, or goes on if a subagent asked.
  if (interruption !== undefined) return { status: "cancelled", error: naming(left, interruption) };
  if (verdict.outcome === "complete") return { status: "complete", error: null };
  return { status: "failed", error: naming(left, verdict.message) };
}

/** Adds to an error the processes that could not be stopped. */
export function naming(left: LeftRunning[], error: string): string {
  if (left.length === 0) return error;
  const named = left.slice(0, MAX_NAMED).map(({ pid, command }) => `${pid} (${command})`);
  const more = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : "";
  return `${error} Plexus could not end what the child had started: ${named.join(", ")}${more}. End it yourself.`;
}
