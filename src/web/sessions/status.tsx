import type { SessionStatus } from "../../contract/sessions/turn.ts";

const WORDS: Record<SessionStatus, string> = {
  idle: "idle",
  queued: "queued",
  running: "running",
  awaiting_permission: "needs approval",
  complete: "done",
  failed: "failed",
  cancelled: "cancelled",
};

export function SessionBadge({ status }: { status: SessionStatus }) {
  return <span class={`badge ${status}`}>{WORDS[status]}</span>;
}

export function isGoingOn(status: SessionStatus): boolean {
  return status === "queued" || status === "running" || status === "awaiting_permission";
}

export function dollars(amount: number): string {
  return amount === 0 ? "–" : `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}
