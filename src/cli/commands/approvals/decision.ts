import { type Config, UsageError } from "../../../config.ts";
import { type ApprovalStatus, type Decision, RespondResult } from "../../../contract/approvals/approval.ts";
import { findServer } from "../../server/server-client.ts";
import { jsonText, printableText } from "../../terminal/printable.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";
import type { Examined } from "../../watch/examining.ts";

/** Decides one approval; being second is a failure of its own, which says who was first. */
export async function sendDecision(
  config: Config,
  { id, decision, json }: { id: string; decision: Decision; json: boolean },
  terminal: Terminal,
): Promise<void> {
  if (!/^[A-Za-z0-9-]+$/.test(id)) throw new UsageError(`"${id}" is not an id: \`plexus pending\` shows them.`);
  const server = findServer(config);
  const answer = await server.request(RespondResult, "POST", `/api/v1/approvals/${id}/respond`, decision);
  if (json) terminal.out(jsonText(answer, terminal));
  if (answer.type === "already_resolved") {
    const when = new Date(answer.resolved_at * 1000).toISOString();
    const first = OUTCOMES[answer.status](answer.resolved_by);
    throw new CommandFailed(`${id} ${first} at ${when}: your decision was not used.`, ExitCode.alreadyResolved);
  }
  if (!json) terminal.out(`${decision.approve ? "Allowed" : "Denied"} ${id}.\n`);
}

/** How whoever can't be asked here may decide it elsewhere. */
export function howToDecide(what: string, approvalId: string): string {
  return `${what} waits for a decision: \`plexus allow ${approvalId}\`, or \`plexus deny ${approvalId} -m WHY\`.`;
}

/** Why allowing it wants a second look, for whoever decides it by its id. */
export function dangerLines({ approval, dangers }: Pick<Examined, "approval" | "dangers">): string[] {
  return dangers.map(({ message }) => `! ${approval.id}: it ${printableText(message)}`);
}

const OUTCOMES: Record<ApprovalStatus, (by: string) => string> = {
  pending: () => "is still pending",
  allowed: (by) => `was already allowed by ${by}`,
  denied: (by) => `was already denied by ${by}`,
  timed_out: () => "had already timed out",
  abandoned: () => "was already abandoned, since its child is gone,",
};
