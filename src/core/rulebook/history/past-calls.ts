import type { JsonObject } from "../../../contract/values.ts";
import type { NewOutline, PastRequest } from "../../../storage/past.ts";
import type { Storage } from "../../../storage/storage.ts";
import { type Principal, visibleOwner } from "../../access/principals.ts";
import { NO_CONVERSATION, type Session, type Sessions } from "../../sessions/sessions.ts";
import type { OutlineReader } from "./outlines.ts";
import type { pauses } from "./pauses.ts";

/** The number of past requests to read at once. */
const BATCH = 250;
/** Older requests are ignored. */
export const MAX_PAST = 200_000;

/** A past request with its session. */
export type Past = PastRequest & { session: Session };
export type PastScope = { owner?: string | undefined; sessionId?: string | undefined; toolNames: string[] };

type PastCallsNeed = {
  storage: Pick<Storage, "past">;
  sessions: Pick<Sessions, "get">;
};

export type PastCalls = ReturnType<typeof createPastCalls>;

/** Past requests with their sessions, newest first. */
export function createPastCalls({ storage, sessions }: PastCallsNeed) {
  async function* batches(scope: PastScope & { withAll?: boolean }): AsyncGenerator<Past[]> {
    const known = new Map<string, Session>();
    let before: string | undefined;
    for (let read = 0; read < MAX_PAST; read += BATCH) {
      const rows = await storage.past.list({ ...scope, before, limit: BATCH });
      const found: Past[] = [];
      for (const row of rows) {
        // The working directory of a deleted session is unknown.
        const session = known.get(row.sessionId) ?? (await sessions.get(row.sessionId)) ?? unknownSession(row);
        known.set(row.sessionId, session);
        found.push({ ...row, session });
      }
      yield found;
      before = rows.at(-1)?.id;
      if (rows.length < BATCH) return;
      await new Promise(setImmediate);
    }
  }

  async function inputs(of: readonly PastRequest[]): Promise<Map<string, JsonObject>> {
    const rows = await storage.past.inputs(of.map(({ id }) => id));
    return new Map(rows.map(({ id, inputText }) => [id, JSON.parse(inputText) as JsonObject]));
  }

  return {
    batches,
    inputs,

    of: (principal: Principal, sessionId: string | undefined, toolNames: string[]) =>
      batches({ owner: visibleOwner(principal), sessionId, toolNames }),

    /** Computes and stores outlines for the requests that have no valid one. */
    async outline(batch: Past[], reader: OutlineReader, pause: ReturnType<typeof pauses>): Promise<void> {
      const outdated = batch.filter((past) => !reader.isCurrent(past, past.session));
      if (outdated.length === 0) return;
      const given = await inputs(outdated);
      const read: NewOutline[] = [];
      for (const past of outdated) {
        const input = given.get(past.id);
        if (!input) continue;
        past.outline = reader.outline(past, input);
        past.outlineKey = reader.placeIn(past.session).outlineKey;
        read.push({ id: past.id, outlineKey: past.outlineKey, outline: past.outline });
        if (pause.isDue()) await pause.take();
      }
      reader.forgetFiles();
      if (read.length > 0) await storage.past.keepOutlines(read);
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
