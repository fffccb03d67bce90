import { type Config, UsageError } from "../../../config.ts";
import type { ApprovalStatus, Decision } from "../../../contract/approvals/approval.ts";
import { decideApproval } from "../../../contract/routes/approvals.ts";
import { openApi } from "../../server/server-client.ts";
import { jsonText } from "../../terminal/printable.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";

/** Decides one request; being second is a failure of its own, which says who was first. */
export async function sendDecision(
  config: Config,
  { id, decision, json }: { id: string; decision: Decision; json: boolean },
  terminal: Terminal,
): Promise<void> {
  if (!/^[A-Za-z0-9-]+$/.test(id)) throw new UsageError(`"${id}" is not an id: \`plexus pending\` shows them.`);
  const api = await openApi(config);
  const answer = await api.call(decideApproval, { params: { id }, body: decision });
  if (json) terminal.out(jsonText(answer, terminal));
  if (answer.type === "already_resolved") {
    const when = new Date(answer.resolved_at * 1000).toISOString();
    const first = EARLIER_OUTCOMES[answer.status](answer.resolved_by);
    throw new CommandFailed(`${id} ${first} at ${when}: your decision was not used.`, ExitCode.alreadyResolved);
  }
  if (!json) terminal.out(`${decision.approve ? "Allowed" : "Denied"} ${id}.\n`);
}

/** How to decide it from another terminal. */
export function howToDecide(what: string, approvalId: string): string {
  return `${what} needs approval: \`plexus allow ${approvalId}\`, or \`plexus deny ${approvalId} -m WHY\`.`;
}

const EARLIER_OUTCOMES: Record<ApprovalStatus, (by: string) => string> = {
  pending: () => "is still pending",
  allowed: (by) => `was already allowed by ${by}`,
  denied: (by) => `was already denied by ${by}`,
  timed_out: () => "had already timed out",
  abandoned: () => "was already abandoned, since its child is gone,",
};
