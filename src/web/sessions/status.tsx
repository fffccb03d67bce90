import { SESSION_WORDS } from "../../client/words/words.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";

export function SessionBadge({ status }: { status: SessionStatus }) {
  return <span class={`badge ${status}`}>{SESSION_WORDS[status]}</span>;
}

export function isGoingOn(status: SessionStatus): boolean {
  return status === "queued" || status === "running" || status === "awaiting_permission";
}

export { costText as dollars } from "../../client/words/words.ts";
