import type { JsonObject } from "../../../contract/values.ts";
import type { NewOutline, PastQuery, PastRequest } from "../../../storage/past.ts";
import type { Storage } from "../../../storage/storage.ts";
import { type Principal, visibleOwner } from "../../access/principals.ts";
import { NO_CONVERSATION, type Session, type Sessions } from "../../sessions/sessions.ts";
import type { OutlineReader } from "./outlines.ts";
import type { Pauses } from "./pauses.ts";

/** The number of past requests to read at once. */
const BATCH = 500;
/** The number of inputs to read at once: each may be large. */
const INPUT_BATCH = 20;
/** Older requests are ignored. */
const MAX_PAST = 200_000;

/** A past request with its session. */
export type Past = PastRequest & { session: Session };
type PastScope = Pick<PastQuery, "owner" | "sessionId" | "toolName" | "withAll">;

type PastCallsNeed = {
  storage: Pick<Storage, "past">;
  sessions: Pick<Sessions, "get">;
  onError: (cause: unknown) => void;
};

export type PastCalls = ReturnType<typeof createPastCalls>;

/** Past requests with their sessions, newest first. */
export function createPastCalls({ storage, sessions, onError }: PastCallsNeed) {
  async function* batches(scope: PastScope): AsyncGenerator<Past[]> {
    const known = new Map<string, Session>();
    let before: string | undefined;
    for (let read = 0; read < MAX_PAST; read += BATCH) {
      const rows = await storage.past.list({ ...scope, before, limit: BATCH });
      const found: Past[] = [];
      for (const row of rows) {
        // The working directory of a deleted session is unknown.
        const session = known.get(row.sessionId) ?? (await sessions.get(row.sessionId)) ?? unknownSession(row);
        known.set(row.sessionId, session);
        found.push(Object.assign(row, { session }));
      }
      yield found;
      before = rows.at(-1)?.id;
      if (rows.length < BATCH) return;
      await new Promise(setImmediate);
    }
  }

  /** Yields the requests that still have an input, each with its input. */
  async function* withInputs<Of extends PastRequest>(all: readonly Of[]): AsyncGenerator<[Of, JsonObject]> {
    for (let from = 0; from < all.length; from += INPUT_BATCH) {
      const some = all.slice(from, from + INPUT_BATCH);
      const rows = await storage.past.inputs(some.map(({ id }) => id));
      const texts = new Map(rows.map(({ id, inputText }) => [id, inputText]));
      for (const one of some) {
        const text = texts.get(one.id);
        if (text !== undefined) yield [one, JSON.parse(text) as JsonObject];
      }
    }
  }

  return {
    batches,
    withInputs,

    /** The caller's past requests for these tools; for all tools if empty. */
    async *of(principal: Principal, sessionId: string | undefined, toolNames: readonly string[]) {
      const [toolName, ...more] = toolNames;
      const scope = { owner: visibleOwner(principal), sessionId };
      if (toolName === undefined || more.length === 0) yield* batches({ ...scope, toolName });
      else for await (const batch of batches(scope)) yield batch.filter((one) => toolNames.includes(one.toolName));
    },

    /** Computes and stores outlines for the requests that have no valid one. */
    async outline(batch: readonly Past[], reader: OutlineReader, pause: Pauses): Promise<void> {
      const read: NewOutline[] = [];
      for await (const [one, input] of withInputs(batch.filter((one) => !reader.isCurrent(one, one.session)))) {
        one.outline = reader.outline(one, input);
        one.outlineKey = reader.placeIn(one.session).outlineKey;
        read.push({ id: one.id, outlineKey: one.outlineKey, outline: one.outline });
        if (pause.isDue()) await pause.take();
      }
      reader.forgetFiles();
      // Results do not depend on stored outlines, so a full disk must not fail them.
      if (read.length > 0) await storage.past.keepOutlines(read).catch(onError);
    },
  };
}

function unknownSession({ sessionId }: PastRequest): Session {
  return {
    id: sessionId,
    name: "",
    owner: "",
    kind: "by_hand",
    loopbackTimeoutSecs: null,
    createdAt: 0,
    ...NO_CONVERSATION,
  };
}
