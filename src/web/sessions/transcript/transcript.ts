import { batch, computed, type Signal, signal } from "@preact/signals";
import type { Api } from "../../../client/api.ts";
import { sessionEvents } from "../../../client/feeds.ts";
import { allItems } from "../../../client/paging.ts";
import { getSession } from "../../../contract/routes/sessions.ts";
import { getTurn, listTurnEvents, listTurns } from "../../../contract/routes/turns.ts";
import { type SessionDetail, SessionEvent, type TurnSummary } from "../../../contract/sessions/session-view.ts";
import { reasonOf } from "../../shared/reason.ts";
import type { StoredEvent } from "./entries.ts";

/** The number of events that are loaded, cached and drawn together. */
export const CHUNK = 25;
const MAX_CHUNKS = 300;
const GATHER_MS = 30;
const TURNS_PAGE = 1000;
/** How many of the newest turns are loaded again after an event. */
const REFRESHED_TURNS = 20;

export type Chunk = { key: string; turnId: string; at: number };
export type Events = (StoredEvent | undefined)[];

export type Transcript = ReturnType<typeof openTranscript>;

/** The transcript of a session, loaded as it is viewed and updated live. */
export function openTranscript(api: Api, id: string) {
  const over = new AbortController();
  const ofSession = { params: { key: id } };
  const session = signal<SessionDetail | undefined>(undefined);
  const turns = signal<TurnSummary[]>([]);
  const problem = signal<string | undefined>(undefined);
  const chunks = new Map<string, Signal<Events>>();
  const loading = new Set<string>();
  const places = new Map<string, Chunk>();
  const prompts = new Map<string, Signal<string | undefined>>();
  /** All chunks in order. Each keeps its identity. */
  const layout = computed(() =>
    turns.value.flatMap(({ turn_id: turnId, event_count }) =>
      Array.from({ length: Math.ceil(event_count / CHUNK) }, (_, at) => placeOf(turnId, at)),
    ),
  );

  function placeOf(turnId: string, at: number): Chunk {
    const key = `${turnId}:${at}`;
    const chunk = places.get(key) ?? { key, turnId, at };
    places.set(key, chunk);
    return chunk;
  }

  async function load(): Promise<void> {
    const { config } = await api.call(getSession, ofSession);
    const newestFirst = await allItems(TURNS_PAGE, async (query) => {
      const page = await api.call(listTurns, { ...ofSession, query });
      return { items: page.turns, cursor: page.cursor };
    });
    batch(() => {
      session.value = config;
      turns.value = newestFirst.reverse();
    });
  }

  /** The prompt of a turn, once it is loaded. */
  function promptOf(turnId: string): Signal<string | undefined> {
    const known = prompts.get(turnId);
    if (known) return known;
    const prompt = signal<string | undefined>(undefined);
    prompts.set(turnId, prompt);
    const read = api.call(getTurn, { params: { turn_id: turnId } });
    read
      .then((answer) => {
        prompt.value = answer.prompt ?? "";
      })
      // A failed load is tried again the next time the prompt is shown.
      .catch(() => prompts.delete(turnId));
    return prompt;
  }

  /** The known events of a chunk. Missing ones are loaded. */
  function eventsOf({ key, turnId, at }: Chunk): Signal<Events> {
    const known = chunks.get(key) ?? signal<Events>([]);
    // Move the chunk to the end: the cache drops the least recently used first.
    chunks.delete(key);
    chunks.set(key, known);
    const total = turns.peek().find((turn) => turn.turn_id === turnId)?.event_count ?? 0;
    const wanted = Math.min(CHUNK, total - at * CHUNK);
    const missing = Array.from({ length: Math.max(0, wanted) }, (_, index) => index).find(
      (index) => !known.peek()[index],
    );
    if (missing !== undefined && !loading.has(key)) void fetchChunk(key, turnId, at * CHUNK + missing);
    return known;
  }

  async function fetchChunk(key: string, turnId: string, from: number): Promise<void> {
    loading.add(key);
    try {
      const limit = CHUNK - (from % CHUNK);
      const page = await api.call(listTurnEvents, { params: { turn_id: turnId }, query: { from_seq: from, limit } });
      put(turnId, page.events);
    } catch (cause) {
      problem.value = reasonOf(cause);
    } finally {
      loading.delete(key);
      for (const [old] of chunks) if (chunks.size > MAX_CHUNKS) chunks.delete(old);
    }
  }

  function put(turnId: string, events: StoredEvent[]): void {
    const first = events[0];
    if (!first) return;
    const at = Math.floor(first.seq / CHUNK);
    const known = chunks.get(`${turnId}:${at}`);
    if (!known) return;
    const next = [...known.peek()];
    for (const stored of events) if (Math.floor(stored.seq / CHUNK) === at) next[stored.seq % CHUNK] = stored;
    known.value = next;
  }

  const arriving: SessionEvent[] = [];

  /** Handles events within a short time together. */
  function takeSoon(event: SessionEvent): void {
    if (arriving.push(event) > 1) return;
    setTimeout(() => batch(() => arriving.splice(0).forEach(take)), GATHER_MS);
  }

  function take({ turn_id, seq, at: storedAt, event }: SessionEvent): void {
    const turn = turns.peek().find((one) => one.turn_id === turn_id);
    if (!turn) return void refresh();
    const at = Math.floor(seq / CHUNK);
    // The first event of a chunk is complete by itself. Other chunks are loaded when they are viewed.
    if (seq % CHUNK === 0) chunks.set(`${turn_id}:${at}`, signal([]));
    put(turn_id, [{ seq, at: storedAt, event }]);
    if (seq >= turn.event_count) replaceTurn({ ...turn, event_count: seq + 1 });
    if (["start", "approval_requested", "approval_resolved", "complete", "error"].includes(event.type)) void refresh();
  }

  function replaceTurn(turn: TurnSummary): void {
    turns.value = turns.peek().map((one) => (one.turn_id === turn.turn_id ? turn : one));
  }

  let isRefreshing = false;
  let isWantedAgain = false;
  /** Loads new and ended turns. Keeps newer data from the stream. */
  async function refresh(): Promise<void> {
    if (isRefreshing) {
      isWantedAgain = true;
      return;
    }
    isRefreshing = true;
    try {
      const [detail, page] = await Promise.all([
        api.call(getSession, ofSession),
        api.call(listTurns, { ...ofSession, query: { limit: REFRESHED_TURNS } }),
      ]);
      const known = new Map(turns.peek().map((turn) => [turn.turn_id, turn]));
      for (const turn of page.turns.toReversed()) {
        const event_count = Math.max(turn.event_count, known.get(turn.turn_id)?.event_count ?? 0);
        known.set(turn.turn_id, { ...turn, event_count });
      }
      batch(() => {
        session.value = detail.config;
        turns.value = [...known.values()];
      });
    } catch (cause) {
      problem.value = reasonOf(cause);
    } finally {
      isRefreshing = false;
    }
    if (!isWantedAgain || over.signal.aborted) return;
    isWantedAgain = false;
    await refresh();
  }

  async function follow(): Promise<void> {
    try {
      await load();
    } catch (cause) {
      problem.value = reasonOf(cause);
      return;
    }
    const last = turns.peek().findLast((turn) => turn.event_count > 0);
    const told = sessionEvents({
      api,
      session: id,
      isLive: true,
      lastEventId: last && `${last.turn_id}~${last.event_count - 1}`,
      signal: over.signal,
      onOpen: () => void refresh(),
    });
    for await (const one of told) {
      const event = SessionEvent.safeParse(one).data;
      if (event) takeSoon(event);
    }
  }

  void follow();
  return {
    session,
    turns,
    chunks: layout,
    chunkAt: placeOf,
    problem,
    eventsOf,
    promptOf,
    refresh,
    close: () => over.abort(),
  };
}
