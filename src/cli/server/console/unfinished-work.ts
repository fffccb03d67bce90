import type { Api } from "../../../client/api.ts";
import { listApprovals } from "../../../contract/routes/approvals.ts";
import { listSessions } from "../../../contract/routes/sessions.ts";
import type { SessionStatus } from "../../../contract/sessions/turn.ts";

/** The warning needs no higher count. */
const MOST = 1_000;
const UNFINISHED: SessionStatus[] = ["running", "awaiting_permission", "queued"];

/** The work that a stop would end: running and queued turns, and undecided requests. */
export type UnfinishedWork = { turns: number; requests: number };

export async function workOf(api: Api): Promise<UnfinishedWork> {
  const pages = UNFINISHED.map((status) => api.call(listSessions, { query: { status, limit: MOST } }));
  const sessions = await Promise.all(pages);
  const query = { status: "pending", context: "false", max_chars: 2_000, limit: MOST } as const;
  const { approvals } = await api.call(listApprovals, { query });
  return { turns: sessions.reduce((sum, page) => sum + page.sessions.length, 0), requests: approvals.length };
}

/** The warning before a stop; `undefined` if a stop ends nothing. */
export function stopWarning({ turns, requests }: UnfinishedWork): string | undefined {
  if (turns === 0 && requests === 0) return undefined;
  const parts = [
    ...(turns > 0 ? [`${counted(turns, "turn")} would be cancelled`] : []),
    ...(requests > 0 ? [`${counted(requests, "request")} would stay undecided`] : []),
  ];
  return `${parts.join(", and ")}.`;
}

function counted(count: number, one: string): string {
  return `${count}${count >= MOST ? "+" : ""} ${one}${count === 1 ? "" : "s"}`;
}
