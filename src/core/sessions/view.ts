import type { ChangeEvent } from "../../contract/change.ts";
import { fitting } from "../../contract/fit.ts";
import type { SessionDetail, SessionSummary, TurnSummary } from "../../contract/sessions/session-view.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";
import { seconds } from "../../contract/values.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { NodeRow } from "../../storage/sqlite/sessions/nodes.ts";
import type { ListedSession } from "../../storage/sqlite/sessions/sessions.ts";
import type { TurnRow } from "../../storage/sqlite/turns/turns.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";
import type { TurnReading } from "../turns/poll.ts";
import { headOf } from "./conversations.ts";
import type { Session } from "./sessions.ts";

export type SessionView = ReturnType<typeof createSessionView>;
type Page = { cursor?: string | undefined; limit: number };
/** All settings of a session are read to find its directory; sessions of earlier versions may have many megabytes of them. */
const MAX_PAGE_CONFIG_BYTES = 32 * 1024 * 1024;

/** Sessions and turns as everybody outside sees them. */
export function createSessionView({ storage, turnReading }: { storage: Storage; turnReading: TurnReading }) {
  function summary(session: ListedSession): SessionSummary {
    const turn = storage.turns.latest(session.id);
    const status = turn && turnReading.statusOf(turn);
    return {
      id: session.id,
      name: session.name,
      kind: session.kind,
      status: status ?? "idle",
      working_dir: session.workingDir,
      created_at: seconds(session.createdAt),
      owner: ownerName(session.owner),
      cost_usd: session.totalCostUsd,
      claude_session_id: session.claudeSessionId,
      ...(session.forkedFrom !== null && { forked_from: session.forkedFrom }),
      last_turn: turn && status ? { id: turn.id, status, ...timesOf(turn) } : null,
      pending: storage.approvals.countPending(session.id),
    };
  }

  /** As the record of a decision names them; a token that was revoked has left only its id. */
  function ownerName(owner: string): string {
    const name = owner.startsWith("token:") && storage.tokens.get(owner.slice("token:".length))?.name;
    return name ? `token:${name}` : owner;
  }

  function turn(row: TurnRow): TurnSummary {
    return {
      turn_id: row.id,
      session_id: row.sessionId,
      status: turnReading.statusOf(row),
      event_count: row.eventCount,
      ...timesOf(row),
      error: row.error,
      usage: row.usage,
      unasked: row.unasked,
      ephemeral: row.ephemeral,
    };
  }

  return {
    /** What the caller may see, newest first, a page at a time. */
    list(principal: Principal, page: Page & { status?: SessionStatus | undefined }) {
      const { shown, cursor } = paged(page, (one) => storage.sessions.list(visibleOwner(principal), one), readable);
      const sessions = shown.flatMap(({ id }) => storage.sessions.listed(id) ?? []);
      return { sessions: sessions.map(summary), cursor };
    },

    detail: (session: Session): SessionDetail => ({
      id: session.id,
      name: session.name,
      kind: session.kind,
      status: turnReading.statusOfSession(session.id),
      head: headOf(session),
      claude_session_id: session.claudeSessionId,
      total_cost_usd: session.totalCostUsd,
      created_at: seconds(session.createdAt),
      ...session.config,
    }),

    turn,

    /** The turns of a session, newest first, a page at a time. */
    turns(session: Session, page: Page) {
      const { shown, cursor } = paged(page, ({ limit, cursor }) =>
        storage.turns.list({ sessionId: session.id }, limit, cursor),
      );
      return { turns: shown.map(turn), cursor };
    },
  };
}

/** What a change tells of a turn; of a beginning what held then, whatever has become of the turn since. */
export function toTurnChange(
  { kind, at }: { kind: "turn_queued" | "turn_started" | "turn_ended"; at: number },
  turn: TurnRow,
  session_name: string,
): ChangeEvent | undefined {
  const { id: turn_id, sessionId: session_id, ephemeral, status, error, usage } = turn;
  const { started_at, ended_at } = timesOf(turn);
  const queued = { session_id, session_name, turn_id, ephemeral };
  if (kind === "turn_queued") return { type: kind, ...queued, status: "queued", queued_at: seconds(at) };
  const about = { ...queued, started_at };
  if (kind === "turn_started")
    return { type: kind, ...about, status: "running", error: null, usage: null, ended_at: null };
  if (status === "queued" || status === "running" || ended_at === null) return undefined;
  return { type: kind, ...about, status, error, usage, ended_at };
}

export function toNode({ id, parentId, role, content }: NodeRow) {
  return { id, parent_id: parentId, role, content };
}

export function toMessage({ role, content }: NodeRow) {
  return { role, content };
}

function timesOf({ startedAt, endedAt }: TurnRow) {
  return { started_at: seconds(startedAt), ended_at: endedAt === null ? null : seconds(endedAt) };
}

/** As many from the front as can be read without holding everybody else up; the first one always. */
function readable<Row extends { configBytes: number }>(rows: Row[]): Row[] {
  return fitting(rows, MAX_PAGE_CONFIG_BYTES, ({ configBytes }) => configBytes);
}

/** Asks for one more than a page holds, to know whether there is another. */
function paged<P extends Page, Row extends { id: string }>(
  page: P,
  list: (page: P) => Row[],
  fit: (rows: Row[]) => Row[] = (rows) => rows,
) {
  const found = list({ ...page, limit: page.limit + 1 });
  const shown = fit(found.slice(0, page.limit));
  return { shown, cursor: found.length > shown.length ? (shown.at(-1)?.id ?? null) : null };
}
