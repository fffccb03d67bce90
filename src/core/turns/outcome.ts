import type { LeftRunning } from "../../contract/sessions/left-running.ts";
import type { TurnEnd } from "../../storage/turns.ts";
import type { ChildEnd } from "./child-output.ts";

/** How a turn has ended. */
export type TurnOutcome = Pick<TurnEnd, "status" | "error">;

/** Why a child was stopped, and what of it could not be ended. */
export type Stop = { why: string; left: Promise<LeftRunning[]> };

const MAX_NAMED = 10;

/** How a turn has ended. Waits for a stop that is still under way; `interruption` is why a denial ended it, if one did. */
export async function outcomeOf(
  { verdict, left }: ChildEnd,
  stop: Stop | undefined,
  interruption: string | undefined,
): Promise<TurnOutcome> {
  if (stop) return { status: "cancelled", error: naming(await stop.left, stop.why) };
  // Whatever the CLI makes of it: it reports an error, or goes on where a subagent had asked.
  if (interruption !== undefined) return { status: "cancelled", error: naming(left, interruption) };
  if (verdict.outcome === "complete") return { status: "complete", error: null };
  return { status: "failed", error: naming(left, verdict.message) };
}

/** The error of a turn, with what still runs. */
export function naming(left: LeftRunning[], error: string): string {
  if (left.length === 0) return error;
  const named = left.slice(0, MAX_NAMED).map(({ pid, command }) => `${pid} (${command})`);
  const more = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : "";
  return `${error} Plexus could not end what the child had started: ${named.join(", ")}${more}. End it yourself.`;
}
