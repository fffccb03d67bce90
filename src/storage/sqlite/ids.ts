import type { Database } from "bun:sqlite";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

/**
 * Creates ids whose order is their order of creation, even if the clock was set back or another process created the
 * last one.
 */
export function createIds(sqlite: Database, now: () => number): (after?: string) => string {
  let last = newestIn(sqlite);
  return (after = "") => {
    if (after > last && UUID_V7.test(after)) last = after;
    const id = Bun.randomUUIDv7("hex", Math.max(now(), timeIn(last)));
    last = id > last ? id : Bun.randomUUIDv7("hex", timeIn(last) + 1);
    return last;
  };
}

/** Returns the greatest id of all tables that are ordered by id. */
function newestIn(sqlite: Database): string {
  const tables = ["loopback_approvals", "sessions", "turns", "nodes"];
  const newest = tables.map((table) => `SELECT (SELECT max(id) FROM ${table}) AS id`).join(" UNION ALL ");
  const found = sqlite.query<{ id: string | null }, []>(newest).all();
  return found.reduce((latest, { id }) => (id !== null && id > latest && UUID_V7.test(id) ? id : latest), "");
}

/** Returns an id's time in milliseconds, which is its first 48 bits. */
function timeIn(id: string): number {
  return id === "" ? 0 : Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
