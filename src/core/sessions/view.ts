import type { ChangeEvent } from "../../contract/change.ts";
import type { SessionCreated } from "../../contract/sessions/answers.ts";
import type { SessionDetail, SessionSummary, TurnSummary } from "../../contract/sessions/session-view.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";
import { fitting } from "../../contract/text/fit.ts";
import { dollars, seconds } from "../../contract/values.ts";
import type { ListedSession, NodeRow } from "../../storage/sessions.ts";
import type { Storage } from "../../storage/storage.ts";
import type { TurnRow } from "../../storage/turns.ts";
import { ownerName } from "../access/owner-name.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";
import type { Polls } from "../turns/poll.ts";
import { headOf } from "./conversations.ts";
import { configOf } from "./launch-spec.ts";
import type { Session } from "./sessions.ts";

export type SessionViews = ReturnType<typeof createSessionViews>;
type SessionViewsNeed = {
  storage: Pick<Storage, "approvals" | "sessions" | "tokens" | "turns">;
  polls: Polls;
  placeOf: (turnId: string) => Promise<number | undefined>;
};
type Page = { cursor?: string | undefined; limit: number };
/** Finding a session's directory reads all its settings, and those of earlier versions may have many megabytes. */
const MAX_PAGE_CONFIG_BYTES = 32 * 1024 * 1024;

/** Sessions and turns as the transports return them. */
export function createSessionViews({ storage, polls, placeOf }: SessionViewsNeed) {
  async function summary(session: ListedSession): Promise<SessionSummary> {
    const turn = await storage.turns.latest(session.id);
    const status = turn && (await polls.statusOf(turn));
    return {
      id: session.id,
      name: session.name,
      kind: session.kind,
      status: status ?? "idle",
      working_dir: session.workingDir,
      created_at: seconds(session.createdAt),
      owner: await ownerName(storage, session.owner),
      cost_usd: dollars(session.ownCostUsd),
      last_activity_at: seconds(lastActivity(session, turn)),
      claude_session_id: session.claudeSessionId,
      ...(session.forkedFrom !== null && { forked_from: session.forkedFrom }),
      ...(session.originId !== null && { origin_id: session.originId }),
      last_turn: turn && status ? { id: turn.id, status, ...timesOf(turn) } : null,
      pending: await storage.approvals.countPending(session.id),
    };
  }

  async function turn(row: TurnRow): Promise<TurnSummary> {
    return {
      turn_id: row.id,
      session_id: row.sessionId,
      status: await polls.statusOf(row),
      event_count: row.eventCount,
      ...timesOf(row),
      error: row.error,
      usage: row.usage,
      unasked: row.unasked,
      ephemeral: row.ephemeral,
    };
  }

  return {
    /** One page of the sessions that the caller may see, newest first. */
    async list(principal: Principal, page: Page & { status?: SessionStatus | undefined }) {
      const owner = visibleOwner(principal);
      const { shown, cursor } = await paged(page, (one) => storage.sessions.list(owner, one), readable);
      const found = await Promise.all(shown.map(({ id }) => storage.sessions.listed(id)));
      const sessions = found.filter((session) => session !== undefined);
      return { sessions: await Promise.all(sessions.map(summary)), cursor };
    },

    async detail(session: Session): Promise<SessionDetail> {
      const latest = await storage.turns.latest(session.id);
      const place = latest?.status === "queued" ? await placeOf(latest.id) : undefined;
      return {
        id: session.id,
        name: session.name,
        kind: session.kind,
        status: latest ? await polls.statusOf(latest) : "idle",
        ...(place !== undefined && { place }),
        head: headOf(session),
        claude_session_id: session.claudeSessionId,
        total_cost_usd: dollars(session.ownCostUsd),
        created_at: seconds(session.createdAt),
        ...(session.nextConfig ?? session.config),
      };
    },

    turn,

    /** One page of a session's turns, newest first. */
    async turns(session: Session, page: Page) {
      const { shown, cursor } = await paged(page, ({ limit, cursor }) =>
        storage.turns.list({ sessionId: session.id }, limit, cursor),
      );
      return { turns: await Promise.all(shown.map(turn)), cursor };
    },
  };
}

/** The event for a change of a turn. A start is described as it was then, whatever has happened to the turn since. */
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

/** The answer to the creator of a session. */
export function toCreated(session: Session): SessionCreated {
  const { id, name } = session;
  return { type: "created", id, name, working_dir: configOf(session).working_dir, head: headOf(session) };
}

export function toNode({ id, parentId, role, content }: NodeRow) {
  return { id, parent_id: parentId, role, content };
}

export function toMessage({ role, content }: NodeRow) {
  return { role, content };
}

/** When the newest turn ended or its child last spoke; for a claude that is started by hand, when it last asked. */
function lastActivity({ seenAt, createdAt }: ListedSession, turn: TurnRow | undefined): number {
  return turn?.endedAt ?? turn?.spokeAt ?? turn?.startedAt ?? seenAt ?? createdAt;
}

function timesOf({ startedAt, endedAt }: TurnRow) {
  return { started_at: seconds(startedAt), ended_at: endedAt === null ? null : seconds(endedAt) };
}

/** As many rows from the front as can be read without blocking the event loop for long; at least one. */
function readable<Row extends { configBytes: number }>(rows: Row[]): Row[] {
  return fitting(rows, MAX_PAGE_CONFIG_BYTES, ({ configBytes }) => configBytes);
}

/** Reads one row more than a page holds, to learn whether there is another page. */
async function paged<P extends Page, Row extends { id: string }>(
  page: P,
  list: (page: P) => Promise<Row[]>,
  fit: (rows: Row[]) => Row[] = (rows) => rows,
) {
  const found = await list({ ...page, limit: page.limit + 1 });
  const shown = fit(found.slice(0, page.limit));
  return { shown, cursor: found.length > shown.length ? (shown.at(-1)?.id ?? null) : null };
}
