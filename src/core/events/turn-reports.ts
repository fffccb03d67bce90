import { cutText } from "../../contract/text/cut-text.ts";
import type { Finished, Running } from "../../contract/tools/wait-answers.ts";
import { seconds } from "../../contract/values.ts";
import type { EndedTurn, OngoingTurn } from "../../storage/changes.ts";
import type { Storage } from "../../storage/storage.ts";
import { lastMessage } from "../turns/last-message.ts";

/** The most characters of JSON for the last message and the error of a turn together. */
const MAX_WORDS_CHARS = 2_000;
const MAX_ERROR_CHARS = 400;
/** Large enough that the text is cut only once, by its length in JSON. */
const MAX_READ_CHARS = 1_000_000;
/** More digits of a dollar would only cost tokens. */
const COST_DIGITS = 6;

/** The report on an ended turn, with the child's last message. */
export async function toFinished(storage: Pick<Storage, "turns">, { turn, name }: EndedTurn): Promise<Finished> {
  const { status, usage } = turn;
  const error = turn.error && shortened(turn.error, MAX_ERROR_CHARS);
  const room = MAX_WORDS_CHARS - (error ? written(error) : 0);
  return {
    session_id: turn.sessionId,
    name,
    turn_id: turn.id,
    status,
    text: shortened(await lastMessage(storage, turn.id, MAX_READ_CHARS), room),
    error,
    asks: {
      allowed: turn.allowed,
      denied: turn.denied,
      timed_out: turn.timedOut,
      abandoned: turn.abandoned,
      builtin: turn.builtin,
      unasked: turn.unasked,
    },
    cost_usd: usage && Number(usage.cost_usd.toFixed(COST_DIGITS)),
    num_turns: usage?.num_turns ?? null,
  };
}

/** The report on a turn that goes on, and how long its child has been silent. Waiting for a decision is not silence. */
export function toRunning(
  { sessionId, name, status, isAsking, spokeAt, startedAt }: OngoingTurn,
  now: number,
): Running {
  const waits = status === "running" && isAsking;
  return {
    session_id: sessionId,
    name,
    status: waits ? "awaiting_permission" : status,
    silent_secs: waits ? 0 : Math.max(0, seconds(now - (spokeAt ?? startedAt))),
  };
}

/** Cuts the text to at most `room` characters of JSON, where a line break takes two. */
function shortened(text: string, room: number): string {
  let cut = cutText(text, room);
  for (let limit = room; written(cut) > room; cut = cutText(text, limit)) limit = Math.floor(limit * 0.8);
  return cut;
}

function written(text: string): number {
  return JSON.stringify(text).length - 2;
}
