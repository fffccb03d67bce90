import type { Database } from "bun:sqlite";
import type { OwnerBytes } from "../../history.ts";

/** What an event takes beside its JSON: its keys, here and in their index. */
const EVENT_KEYS_BYTES = 128;
const ENDED = "FROM turns WHERE status <> 'running' AND status <> 'queued'";
const TURN_BYTES = `event_bytes + ${EVENT_KEYS_BYTES} * event_count`;
const INPUT_BYTES = "octet_length(input) + coalesce(octet_length(updated_input), 0)";
const LARGE = `FROM loopback_approvals WHERE status <> 'pending' AND ${INPUT_BYTES} > 4096`;

/**
 * How much bulk each owner holds: the events of turns that are over, and the inputs of decided asks that have more than
 * 4 kB. Every query reads an index that has the sizes in it, and neither events nor inputs.
 */
export function historySizeQueries(sqlite: Database) {
  const turns = sqlite.query<OwnerBytes, [number]>(
    `SELECT owner, sum(${TURN_BYTES}) AS bytes ${ENDED} AND ended_at < ? GROUP BY owner`,
  );
  const inputs = sqlite.query<OwnerBytes, [number]>(
    `SELECT owner, sum(${INPUT_BYTES}) AS bytes ${LARGE} AND resolved_at < ? GROUP BY owner`,
  );
  const unchained = sqlite.query<OwnerBytes, [number]>(
    `SELECT owner, sum(${INPUT_BYTES}) AS bytes ${LARGE} AND resolved_at < ? AND audit_seq IS NULL GROUP BY owner`,
  );
  const turnReaching = sqlite.query<{ at: number }, [string, number, number]>(
    `SELECT at FROM (SELECT ended_at AS at, ${sumUpTo("ended_at", TURN_BYTES)} AS bytes ${ENDED}
      AND owner = ? AND ended_at < ?) WHERE bytes >= ? LIMIT 1`,
  );
  const inputReaching = sqlite.query<{ at: number }, [string, number, number]>(
    `SELECT at FROM (SELECT resolved_at AS at, ${sumUpTo("resolved_at", INPUT_BYTES)} AS bytes ${LARGE}
      AND owner = ? AND resolved_at < ?) WHERE bytes >= ? LIMIT 1`,
  );

  return {
    /** By the owner, of what had ended before `before`. */
    endedTurns: (before: number): OwnerBytes[] => turns.all(before),
    /** By the owner, of what was decided before `before`. */
    largeInputs: (before: number): OwnerBytes[] => inputs.all(before),
    /** Those of `largeInputs` that were decided before there was a hash chain. */
    unchainedInputs: (before: number): OwnerBytes[] => unchained.all(before),
    /** The time before which the owner's oldest turns, `bytes` of them, had ended; `before` when there is less. */
    endOfTurns: (owner: string, bytes: number, before: number): number =>
      following(turnReaching.get(owner, before, bytes)) ?? before,
    /** The time before which the owner's oldest large inputs, `bytes` of them, were decided; `before` when there is less. */
    endOfInputs: (owner: string, bytes: number, before: number): number =>
      following(inputReaching.get(owner, before, bytes)) ?? before,
  };
}

/** The sum over a row and all that are older. */
function sumUpTo(time: string, bytes: string): string {
  return `sum(${bytes}) OVER (ORDER BY ${time} ROWS UNBOUNDED PRECEDING)`;
}

function following(row: { at: number } | null): number | undefined {
  return row ? row.at + 1 : undefined;
}
