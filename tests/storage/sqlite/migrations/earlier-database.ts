import { Database } from "bun:sqlite";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS, migrate } from "../../../../src/storage/sqlite/migrations.ts";

type Value = string | number | null;
export type Row = Record<string, Value>;

const id = () => Bun.randomUUIDv7();
export const SESSION = id();
export const TURN = id();
export const PENDING = id();
export const ALLOWED = id();
const [TREE, ROOT, ASKED, ANSWERED] = [id(), id(), id(), id()];

/** Rows in the form of the first schema; a table that has lost a column since takes the others. */
const ROWS: Record<string, Row[]> = {
  sessions: [
    {
      id: SESSION,
      name: "worker",
      owner: "operator",
      kind: "managed",
      loopback_timeout_secs: 300,
      created_at: Date.now(),
      config: JSON.stringify({
        working_dir: "/",
        model: null,
        system_prompt: null,
        loopback_enabled: true,
        loopback_timeout_secs: 300,
        supervision: "default",
        allowed_tools: [],
        disallowed_tools: [],
        add_dirs: [],
        mcp_servers: {},
        max_turns: null,
        metadata: { of: "mine" },
      }),
      claude_session_id: id(),
      total_cost_usd: 0.5,
      tree_id: TREE,
      head_node_id: ANSWERED,
    },
  ],
  loopback_approvals: [
    approval(PENDING, { status: "pending" }),
    approval(ALLOWED, {
      status: "allowed",
      resolved_at: Date.now(),
      resolved_by: "operator",
      response_message: "go on",
    }),
  ],
  tokens: [{ id: id(), kind: "named", name: "ci", session_id: null, hash: "00", created_at: Date.now() }],
  changes: [
    { id: 1, kind: "turn_started", owner: "operator", session_id: SESSION, subject_id: TURN, at: Date.now() },
    { id: 2, kind: "approval_requested", owner: "operator", session_id: SESSION, subject_id: ALLOWED, at: Date.now() },
    { id: 3, kind: "approval_resolved", owner: "operator", session_id: SESSION, subject_id: ALLOWED, at: Date.now() },
    { id: 4, kind: "turn_ended", owner: "operator", session_id: SESSION, subject_id: TURN, at: Date.now() },
  ],
  // A chain that has begun, so that the server doesn't begin one.
  audit: [{ chain: "decisions", seq: 0, approval_id: null, at: 1, entry: "{}", hash: "0".repeat(64) }],
  mcp_clients: [{ id: id(), owner: "operator", setup: "[]", used_at: Date.now() }],
  turns: [
    {
      id: TURN,
      session_id: SESSION,
      owner: "operator",
      status: "complete",
      ephemeral: 0,
      event_count: 3,
      output_offset: 100,
      usage: JSON.stringify({ input_tokens: 1, output_tokens: 2, cost_usd: 0.5, num_turns: 1 }),
      started_at: Date.now(),
      ended_at: Date.now(),
    },
  ],
  turn_events: [
    { turn_id: TURN, seq: 0, event: JSON.stringify({ type: "start", id: TURN, user_position: null }) },
    { turn_id: TURN, seq: 1, event: JSON.stringify({ type: "content", text: "Done." }) },
    { turn_id: TURN, seq: 2, event: JSON.stringify({ type: "error", message: "an end that needs little" }) },
  ],
  read_positions: [{ turn_id: TURN, consumer: "default", position: 1 }],
  nodes: [
    node(ROOT, null, "root", {}),
    node(ASKED, ROOT, "user", { type: "text", text: "Do it." }),
    node(ANSWERED, ASKED, "assistant", { type: "text", text: "Done." }),
  ],
};

/**
 * Writes the database as a version with `MIGRATIONS[newest]` as its newest step would have left it; returns its rows.
 */
export function writeEarlierDatabase(dataDir: string, newest: number): Map<string, Row[]> {
  const path = join(dataDir, "plexus.db");
  using sqlite = new Database(path, { create: true });
  chmodSync(path, 0o600);
  sqlite.run("PRAGMA journal_mode = WAL");
  migrate(sqlite, MIGRATIONS.slice(0, newest + 1));
  for (const table of tablesIn(sqlite)) {
    for (const row of ROWS[table] ?? [{}]) insert(sqlite, table, row);
  }
  return contentsOf(sqlite);
}

export function contentsOf(sqlite: Database): Map<string, Row[]> {
  return new Map(
    tablesIn(sqlite).map((table) => [table, sqlite.query<Row, []>(`SELECT * FROM "${table}" ORDER BY rowid`).all()]),
  );
}

function tablesIn(sqlite: Database): string[] {
  return sqlite
    .query<{ name: string }, []>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'plexus_migrations'`,
    )
    .all()
    .map(({ name }) => name);
}

type Column = { name: string; type: string; notnull: number; dflt_value: string | null };
type Reference = { from: string; table: string; to: string };

/** Fills required columns that the row leaves out. */
function insert(sqlite: Database, table: string, row: Row): void {
  const columns = sqlite.query<Column, [string]>("SELECT * FROM pragma_table_info(?)").all(table);
  const references = sqlite.query<Reference, [string]>("SELECT * FROM pragma_foreign_key_list(?)").all(table);
  const values = columns.flatMap((column): [string, Value][] => {
    const given = row[column.name];
    if (given !== undefined) return [[column.name, given]];
    if (!column.notnull || column.dflt_value !== null) return [];
    const target = references.find(({ from }) => from === column.name);
    const known = target && ROWS[target.table]?.[0]?.[target.to];
    return [[column.name, known ?? (column.type === "text" ? "{}" : 1)]];
  });
  const names = values.map(([name]) => `"${name}"`).join(", ");
  const marks = values.map(() => "?").join(", ");
  sqlite.query(`INSERT INTO "${table}" (${names}) VALUES (${marks})`).run(...values.map(([, value]) => value));
}

function approval(approvalId: string, state: Row): Row {
  return {
    id: approvalId,
    session_id: SESSION,
    session_name: "worker",
    owner: "operator",
    tool_name: "Bash",
    tool_use_id: approvalId,
    input: JSON.stringify({ command: "true" }),
    ask_hash: approvalId,
    created_at: Date.now(),
    expires_at: Date.now() + 3_600_000,
    ...state,
  };
}

function node(nodeId: string, parent: string | null, role: string, content: object): Row {
  return {
    id: nodeId,
    tree_id: TREE,
    parent_id: parent,
    role,
    content: JSON.stringify(content),
    created_at: Date.now(),
  };
}
