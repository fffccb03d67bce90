import { Database } from "bun:sqlite";
import { join } from "node:path";
import { openStorage } from "../../src/storage/sqlite/database.ts";

export type PastSize = { approvals: number; events: number; sessions: number };

/** A token without requests, and a session, a tool and an outcome that are rare in the data. */
export const RARE = { owner: "token:rare", tool: "RareTool", status: "timed_out", session: sessionId(7) } as const;
/** One in this many decisions has the rare tool or outcome. */
const RARE_EVERY = 9_973;
const TURNS_OF_SESSION = 10;

export function sessionId(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

/** Fills a data dir with a history of this size, as the server would have stored it; all of it has ended. */
export function storePast(dataDir: string, { approvals, events, sessions }: PastSize): void {
  openStorage(dataDir, () => {})[Symbol.dispose]();
  using db = new Database(join(dataDir, "plexus.db"));
  db.run("PRAGMA synchronous = OFF");
  db.run("PRAGMA cache_size = -262144");
  const now = Date.now();
  const turns = sessions * TURNS_OF_SESSION;
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})`;
  const id = (number: string) => `printf('00000000-0000-7000-8000-%012d', ${number})`;
  db.transaction(() => {
    db.run(
      `INSERT INTO sessions (id, name, owner, kind, created_at, tree_id, head_node_id)
       ${numbers(sessions)} SELECT ${id("i")}, 's-' || i, 'operator', 'managed', ${now}, 'tree-' || i, 'node-' || i FROM n`,
    );
    db.run(
      `INSERT INTO nodes (id, tree_id, role, content, created_at)
       ${numbers(sessions)} SELECT 'node-' || i, 'tree-' || i, 'root', '{}', ${now} FROM n`,
    );
    db.run(
      `INSERT INTO turns (id, session_id, owner, status, ephemeral, event_count, started_at, ended_at)
       ${numbers(turns)} SELECT ${id("i")}, ${id(`i % ${sessions}`)}, 'operator', 'complete', 0, ${Math.floor(events / turns)},
       ${now}, ${now} FROM n`,
    );
    db.run(
      `INSERT INTO turn_events (turn_id, seq, event)
       ${numbers(events)} SELECT ${id(`i / ${Math.max(1, Math.floor(events / turns))}`)}, i % ${Math.max(1, Math.floor(events / turns))},
       '{"type":"content","text":"what a child has said"}' FROM n WHERE i / ${Math.max(1, Math.floor(events / turns))} < ${turns}`,
    );
    db.run(
      `INSERT INTO loopback_approvals (id, session_id, session_name, asked_in, owner, tool_name, tool_use_id, input, ask_hash,
         status, created_at, expires_at, resolved_at, resolved_by, delivered_at, audit_seq)
       ${numbers(approvals)} SELECT ${id("i")}, ${id(`i % ${sessions}`)}, 's', ${id(`i % ${turns}`)}, 'operator',
         iif(i % ${RARE_EVERY} = 1, '${RARE.tool}', 'Bash'), 'toolu_' || i, '{"command":"make test"}', printf('%064d', i),
         iif(i % ${RARE_EVERY} = 2, '${RARE.status}', 'allowed'), ${now} - 1000 * (${approvals} - i), ${now},
         ${now} - 1000 * (${approvals} - i), 'operator', ${now}, i FROM n`,
    );
    db.run(
      `INSERT INTO changes (kind, owner, session_id, subject_id, at)
       SELECT 'approval_resolved', owner, session_id, id, resolved_at FROM loopback_approvals`,
    );
    db.run(
      `INSERT INTO changes (kind, owner, session_id, subject_id, at)
       SELECT 'turn_ended', owner, session_id, id, ended_at FROM turns`,
    );
  })();
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
}
