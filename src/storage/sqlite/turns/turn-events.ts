import { and, asc, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { TurnEvent } from "../../../contract/sessions/turn.ts";
import { fitting } from "../../../contract/text/fit.ts";
import type { EventWords, NumberedTurnEvent, TimedTurnEvent, ToolUseEvent } from "../../turns.ts";
import type { Orm } from "../statements/orm.ts";
import { readPositions, turnEvents, turns } from "../tables.ts";

/** How many events to search for a call: its result usually follows sooner, unless much else happens in between. */
const MAX_LOOKED_BACK = 2_000;

/** Queries on the events of turns, and on readers' positions in them. */
export function turnEventQueries(orm: Orm) {
  const at = sql.placeholder;
  const take = orm
    .update(turns)
    .set({
      eventCount: sql`event_count + ${at("count")}`,
      eventBytes: sql`event_bytes + ${at("bytes")}`,
      spokeAt: sql`${at("storedAt")}`,
    })
    .where(and(eq(turns.id, at("id")), sql`status = 'running'`))
    .returning({ next: turns.eventCount })
    .prepare();
  const insert = orm
    .insert(turnEvents)
    .values({ turnId: at("turnId"), seq: at("seq"), event: sql`${at("event")}`, at: at("storedAt") })
    .prepare();
  const fromSeq = and(eq(turnEvents.turnId, at("turnId")), gte(turnEvents.seq, at("fromSeq")));
  const sizes = orm
    .select({ bytes: sql<number>`octet_length(event)` })
    .from(turnEvents)
    .where(fromSeq)
    .orderBy(asc(turnEvents.seq))
    .limit(at("limit"))
    .prepare();
  const from = orm
    .select({ seq: turnEvents.seq, event: turnEvents.event, at: turnEvents.at })
    .from(turnEvents)
    .where(fromSeq)
    .orderBy(asc(turnEvents.seq))
    .limit(at("limit"))
    .prepare();
  const backFrom = and(eq(turnEvents.turnId, at("turnId")), lt(turnEvents.seq, at("before")));
  const sizesBack = orm
    .select({ bytes: sql<number>`octet_length(event)` })
    .from(turnEvents)
    .where(backFrom)
    .orderBy(desc(turnEvents.seq))
    .limit(at("limit"))
    .prepare();
  const back = orm
    .select({ seq: turnEvents.seq, event: turnEvents.event, at: turnEvents.at })
    .from(turnEvents)
    .where(backFrom)
    .orderBy(desc(turnEvents.seq))
    .limit(at("limit"))
    .prepare();
  const short = orm
    .select({ seq: turnEvents.seq, event: turnEvents.event })
    .from(turnEvents)
    .where(and(fromSeq, lt(turnEvents.seq, at("to")), sql`octet_length(event) <= ${at("maxBytes")}`))
    .orderBy(asc(turnEvents.seq))
    .prepare();
  const use = orm
    .select({ event: turnEvents.event })
    .from(turnEvents)
    .where(
      and(
        eq(turnEvents.turnId, at("turnId")),
        sql`json_extract(event, '$.type') = 'tool_use'`,
        sql`json_extract(event, '$.tool_use_id') = ${at("toolUseId")}`,
      ),
    )
    .orderBy(desc(turnEvents.seq))
    .limit(1)
    .prepare();
  const usesBefore = orm
    .select({ seq: turnEvents.seq, event: turnEvents.event })
    .from(turnEvents)
    .where(
      and(
        eq(turnEvents.turnId, at("turnId")),
        lt(turnEvents.seq, at("before")),
        gte(turnEvents.seq, at("from")),
        sql`json_extract(event, '$.type') = 'tool_use'`,
        sql`json_extract(event, '$.tool_use_id') IN (SELECT value FROM json_each(${at("toolUseIds")}))`,
      ),
    )
    .orderBy(desc(turnEvents.seq))
    .prepare();
  const type = sql<TurnEvent["type"]>`json_extract(event, '$.type')`;
  const eventType = sql`json_extract(event, '$.event_type')`;
  const words = orm
    .select({
      seq: turnEvents.seq,
      type: type.as("type"),
      // Parse in JavaScript: SQLite's JSON functions change NUL characters and lone surrogates.
      spoken: sql<string | null>`iif(${type} = 'content', event, NULL)`,
      beginsAnew: sql<number>`${type} = 'passthrough' AND (${eventType} LIKE 'user%' OR ${eventType} = 'system/init')`,
    })
    .from(turnEvents)
    .where(backFrom)
    .orderBy(desc(turnEvents.seq))
    .limit(at("limit"))
    .prepare();
  const position = orm
    .select({ position: readPositions.position })
    .from(readPositions)
    .where(and(eq(readPositions.turnId, at("turnId")), eq(readPositions.consumer, at("consumer"))))
    .prepare();
  const advance = orm
    .insert(readPositions)
    .values({ turnId: at("turnId"), consumer: at("consumer"), position: at("position") })
    .onConflictDoUpdate({
      target: [readPositions.turnId, readPositions.consumer],
      set: { position: sql`max(position, excluded.position)` },
    })
    .prepare();

  return {
    /** Appends events with consecutive numbers, and restarts the child's silence; does nothing after the turn's end. */
    appendEventsIfRunning: (id: string, events: TurnEvent[], storedAt: number): boolean => {
      const texts = events.map((event) => JSON.stringify(event));
      const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      const taken = take.get({ id, count: texts.length, bytes, storedAt });
      if (!taken) return false;
      const first = taken.next - texts.length;
      for (const [index, event] of texts.entries()) insert.run({ turnId: id, seq: first + index, event, storedAt });
      return true;
    },
    events: (turnId: string, fromSeq: number, limit: number): TimedTurnEvent[] => from.all({ turnId, fromSeq, limit }),
    /** Returns as many events from `fromSeq` on as fit; the first one always fits. */
    eventPage: (turnId: string, fromSeq: number, page: { limit: number; maxBytes: number }): TimedTurnEvent[] => {
      const found = sizes.all({ turnId, fromSeq, limit: page.limit });
      const { length } = fitting(found, page.maxBytes, ({ bytes }) => bytes);
      return from.all({ turnId, fromSeq, limit: length });
    },
    /** Returns as many events before `before` as fit, newest first; the first one always fits. */
    eventsBefore: (turnId: string, before: number, page: { limit: number; maxBytes: number }): TimedTurnEvent[] => {
      const found = sizesBack.all({ turnId, before, limit: page.limit });
      const { length } = fitting(found, page.maxBytes, ({ bytes }) => bytes);
      return back.all({ turnId, before, limit: length });
    },
    /**
     * Returns the last events before `before`, newest first, without their long fields, except the child's own text.
     */
    wordsBefore: (turnId: string, before: number, limit: number): EventWords[] =>
      words.all({ turnId, before, limit }).map(({ seq, type, spoken, beginsAnew }) => {
        const event: Extract<TurnEvent, { type: "content" }> | null = spoken === null ? null : JSON.parse(spoken);
        return { seq, type, text: event?.text ?? null, beginsAnew: beginsAnew === 1 };
      }),
    /**
     * Returns the events from `from` up to, but not including, `to`, in order, skipping those longer than `maxBytes`.
     */
    shortEvents: (
      turnId: string,
      { from: fromSeq, to, maxBytes }: { from: number; to: number; maxBytes: number },
    ): NumberedTurnEvent[] => short.all({ turnId, fromSeq, to, maxBytes }),
    /** Searches the last events before `before` for calls with these ids, newest first. */
    toolUsesBefore: (turnId: string, toolUseIds: string[], before: number): NumberedTurnEvent[] =>
      usesBefore.all({ turnId, before, from: before - MAX_LOOKED_BACK, toolUseIds: JSON.stringify(toolUseIds) }),
    /** Finds the call with this id from the newest event back, because it was usually made a moment ago. */
    toolUse: (turnId: string, toolUseId: string): ToolUseEvent | undefined => {
      const event = use.get({ turnId, toolUseId })?.event;
      return event?.type === "tool_use" ? event : undefined;
    },
    position: (turnId: string, consumer: string): number => position.get({ turnId, consumer })?.position ?? 0,
    /** Advances a reader, never back. */
    advance: (turnId: string, consumer: string, position: number): void =>
      void advance.run({ turnId, consumer, position }),
  };
}
