import type { Config } from "../../../config.ts";
import type { ApprovalStatus } from "../../../contract/approvals/approval.ts";
import type { Decision } from "../../../contract/approvals/decision.ts";
import { decideApproval } from "../../../contract/routes/approvals.ts";
import { openApi } from "../../server/server-client.ts";
import { decidedWords } from "../../terminal/decided-by.ts";
import { moment } from "../../terminal/moment.ts";
import { jsonText, printable } from "../../terminal/printable.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";
import { madeText, tellNote } from "../rules/rule-text.ts";
import { meantRequest, refuseUnnamed, type WhichRequest } from "./request-id.ts";

/** Decides one request. If someone decided first, the command fails with an exit code of its own and names them. */
export async function sendDecision(
  config: Config,
  { which, decision, json }: { which: WhichRequest; decision: Decision; json: boolean },
  terminal: Terminal,
): Promise<void> {
  refuseUnnamed(which);
  const api = await openApi(config);
  const { id, called } = await meantRequest(api, which, decision.approve === false ? "deny" : "allow");
  const answer = await api.call(decideApproval, { params: { id }, body: decision });
  if (json) terminal.out(jsonText(answer, terminal));
  if (answer.type === "already_resolved") {
    const when = moment(answer.resolved_at, terminal);
    const first = EARLIER_OUTCOMES[answer.status](answer.resolved_by);
    throw new CommandFailed(`${called} ${first} at ${when}: your decision was not used.`, ExitCode.alreadyResolved);
  }
  if (json) return;
  terminal.out(`${decision.approve ? "Allowed" : "Denied"} ${printable(called)}.\n`);
  if (answer.unanswered) terminal.out("It has no answer: the agent is told that nobody answered.\n");
  for (const { text } of answer.dangers ?? []) terminal.out(`With this input it ${printable(text)}.\n`);
  if (answer.rule) terminal.out(`${madeText(answer.rule)}\n`);
  tellNote({ note: answer.rule_note }, terminal);
  if (answer.added) terminal.out(`Added to its input: ${answer.added.map(quoted).join(", ")}.\n`);
}

function quoted(key: string): string {
  return printable(JSON.stringify(key));
}

/** How to decide the request from another terminal. */
export function howToDecide(what: string, approvalId: string): string {
  return `${what} needs approval: \`plexus allow ${approvalId}\`, or \`plexus deny ${approvalId} -m WHY\`.`;
}

const EARLIER_OUTCOMES: Record<ApprovalStatus, (by: string) => string> = {
  pending: () => "is still pending",
  allowed: (by) => `was already ${decidedWords("allowed", by)}`,
  denied: (by) => `was already ${decidedWords("denied", by)}`,
  timed_out: () => "had already timed out",
  abandoned: () => "was already abandoned, since its child is gone,",
};
