import type { Database } from "bun:sqlite";
import type { OwnerBytes } from "../../history.ts";

/** An event's bytes beside its JSON: its keys, in the table and in the index. */
const EVENT_KEYS_BYTES = 128;
const ENDED = "FROM turns WHERE status <> 'running' AND status <> 'queued'";
const TURN_BYTES = `event_bytes + ${EVENT_KEYS_BYTES} * event_count`;
const INPUT_BYTES = "octet_length(input) + coalesce(octet_length(updated_input), 0)";
const LARGE = `FROM loopback_approvals WHERE status <> 'pending' AND ${INPUT_BYTES} > 4096`;

/**
 * The size of each owner's deletable history: events of ended turns, and inputs over 4 kB of decided requests. Every
 * query reads only an index that contains the sizes, never events or inputs.
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
    /** Sums, per owner, the turns that ended before `before`. */
    endedTurns: (before: number): OwnerBytes[] => turns.all(before),
    /** Sums, per owner, the requests decided before `before`. */
    largeInputs: (before: number): OwnerBytes[] => inputs.all(before),
    /** The part of `largeInputs` decided before there was a hash chain. */
    unchainedInputs: (before: number): OwnerBytes[] => unchained.all(before),
    /**
     * Returns the time before which the owner's oldest turns ended, `bytes` of them; `before` if there are fewer bytes.
     */
    endOfTurns: (owner: string, bytes: number, before: number): number =>
      following(turnReaching.get(owner, before, bytes)) ?? before,
    /**
     * Returns the time before which the owner's oldest large inputs were decided, `bytes` of them; `before` if there
     * are fewer.
     */
    endOfInputs: (owner: string, bytes: number, before: number): number =>
      following(inputReaching.get(owner, before, bytes)) ?? before,
  };
}

/** The sum over a row and all older rows. */
function sumUpTo(time: string, bytes: string): string {
  return `sum(${bytes}) OVER (ORDER BY ${time} ROWS UNBOUNDED PRECEDING)`;
}

function following(row: { at: number } | null): number | undefined {
  return row ? row.at + 1 : undefined;
}
