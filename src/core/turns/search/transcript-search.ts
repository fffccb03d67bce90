import { AppError } from "../../../contract/refusals/errors.ts";
import type { TranscriptHit } from "../../../contract/sessions/transcript-hit.ts";
import { seconds } from "../../../contract/values.ts";
import type { Storage } from "../../../storage/storage.ts";
import type { TurnRow } from "../../../storage/turns.ts";
import { createSlices } from "../../events/slices.ts";
import type { Session } from "../../sessions/sessions.ts";
import type { PromptOf } from "../prompt.ts";
import { createMatcher } from "./matcher.ts";
import { createPassages, type Passage, textsOf } from "./passages.ts";

const SLICE = { limit: 1_000, maxBytes: 4 * 1024 * 1024 };
/** The time for one answer; the caller continues with its cursor. */
const SEARCH_MS = 400;
const CURSOR = /^([^~]{1,48})~(\d{1,12})$/;

type TranscriptSearchNeed = { storage: Pick<Storage, "turns">; promptOf: PromptOf; forMs?: number };
type Asked = { search: string; cursor?: string | undefined; limit: number };
/** `cursor` is null at the beginning of the session. */
export type FoundInTranscript = { hits: TranscriptHit[]; cursor: string | null; searchedBackTo: number | undefined };

export type TranscriptSearch = ReturnType<typeof createTranscriptSearch>;

/** Searches all turns of a session, the newest event first, in slices that leave the event loop free for other work. */
export function createTranscriptSearch({ storage, promptOf, forMs = SEARCH_MS }: TranscriptSearchNeed) {
  const nextSlice = createSlices();

  return async (session: Session, { search, cursor, limit }: Asked): Promise<FoundInTranscript> => {
    const over = performance.now() + forMs;
    const excerptOf = createMatcher(search);
    const hits: TranscriptHit[] = [];
    let place = await startOf(session, cursor);
    /** Everything from here on is searched. */
    let reached = place;

    async function look(turn: TurnRow, passages: Passage[]): Promise<boolean> {
      for (const { seq, at, event, text } of passages) {
        const prompt = event.type === "start" ? [(await promptOf(turn.id)) ?? ""] : [];
        const excerpt = excerptOf(text === undefined ? [...prompt, ...textsOf(event)] : [text]);
        if (excerpt !== undefined) {
          const tool = event.type === "tool_use" ? { tool_name: event.tool_name } : {};
          const time = at === null ? {} : { at: seconds(at) };
          hits.push({ turn_id: turn.id, seq, ...time, type: event.type, ...tool, excerpt });
        }
        reached = { turn, before: seq };
        if (hits.length === limit) return true;
      }
      return false;
    }

    while (place) {
      const { turn } = place;
      let { before } = place;
      const passages = createPassages();
      while (before > 0) {
        await nextSlice();
        const slice = await storage.turns.eventsBefore(turn.id, before, SLICE);
        for (const stored of slice) if (await look(turn, passages.add(stored))) return answer(hits, reached);
        before = slice.at(-1)?.seq ?? 0;
        if (before > 0 && performance.now() > over && reached !== place) return answer(hits, reached);
      }
      if (await look(turn, passages.end())) return answer(hits, reached);
      place = placeIn(await turnBefore(session, turn.id));
      reached = place;
      if (place && performance.now() > over) return answer(hits, reached);
    }
    return answer(hits, undefined);
  };

  async function startOf(session: Session, cursor: string | undefined): Promise<Place | undefined> {
    if (cursor === undefined) return placeIn(await turnBefore(session, undefined));
    const [, turnId, before] = CURSOR.exec(cursor) ?? [];
    if (turnId === undefined)
      throw new AppError("invalid_arguments", "cursor belongs to another list: take it from the answer before.");
    const turn = await storage.turns.get(turnId);
    // A turn that was deleted meanwhile is passed over.
    if (turn?.sessionId !== session.id) return placeIn(await turnBefore(session, turnId));
    return { turn, before: Number(before) };
  }

  async function turnBefore(session: Session, turnId: string | undefined): Promise<TurnRow | undefined> {
    return (await storage.turns.list({ sessionId: session.id }, 1, turnId))[0];
  }
}

/** Before an event of a turn. */
type Place = { turn: TurnRow; before: number };

function placeIn(turn: TurnRow | undefined): Place | undefined {
  return turn && { turn, before: turn.eventCount };
}

function answer(hits: TranscriptHit[], reached: Place | undefined): FoundInTranscript {
  if (!reached) return { hits, cursor: null, searchedBackTo: undefined };
  const { turn, before } = reached;
  return { hits, cursor: `${turn.id}~${before}`, searchedBackTo: turn.startedAt };
}
