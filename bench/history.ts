import { Database } from "bun:sqlite";
import { join } from "node:path";
import { startBenchServer } from "./server/server-process.ts";

/** Fills a data dir with old decided approvals, as the server would have stored them. */
export async function storeHistory(dataDir: string, count: number): Promise<void> {
  await using _ = await startBenchServer(dataDir);
  using db = new Database(join(dataDir, "plexus.db"));
  db.run("PRAGMA synchronous = OFF");
  db.query(
    `INSERT INTO loopback_approvals (id, session_id, session_name, owner, tool_name, tool_use_id, input, ask_hash,
       status, interrupt, created_at, expires_at, resolved_at, resolved_by)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     SELECT printf('00000000-0000-7000-8000-%012d', i), printf('session-%d', i % 1000), 'old', 'operator', 'Bash',
       printf('toolu_%d', i), '{"command":"make test","description":"run the tests"}', printf('%064d', i),
       'allowed', 0, ?2, ?2, ?2, 'operator' FROM n`,
  ).run(count, Date.now());
  db.query(
    `INSERT INTO changes (kind, owner, session_id, subject_id, at)
     SELECT 'approval_resolved', owner, session_id, id, resolved_at FROM loopback_approvals`,
  ).run();
}
