import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { waitStepOf } from "../../../../src/storage/record/activity-record.ts";
import { MIGRATIONS, migrate } from "../../../../src/storage/sqlite/migrations.ts";
import { startPlexus } from "../../../support/server/plexus.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";
import { outcome } from "../../rows.ts";
import { ALLOWED, contentsOf, PENDING, type Row, SESSION, TURN, writeEarlierDatabase } from "./earlier-database.ts";

describe.each(MIGRATIONS.map(({ tag }, newest) => ({ tag, newest })))(
  "a database whose newest step is $tag",
  ({ newest }) => {
    test("keeps every row, and every value whose column still exists", async () => {
      await using directory = await temporaryDirectory();
      const before = writeEarlierDatabase(directory.path, newest);
      await using _ = await startPlexus({ dataDir: directory.path });
      using sqlite = new Database(join(directory.path, "plexus.db"), { readonly: true });
      const after = contentsOf(sqlite);
      for (const [table, rows] of before) {
        const now = after.get(table);
        // At start the server deletes webhooks that are no longer configured, their links, and servers that are gone.
        if (now === undefined || ["webhooks", "approval_links", "servers"].includes(table)) continue;
        expect({ table, rows: shared(now, rows) }).toEqual({ table, rows: shared(rows, now) });
      }
      expect(sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
    });

    test("is readable by every tool", async () => {
      await using directory = await temporaryDirectory();
      writeEarlierDatabase(directory.path, newest);
      await using plexus = await startPlexus({ dataDir: directory.path });
      const parent = await plexus.connect();
      const answer = async (tool: string, args: object) => {
        const { isError, value } = await parent.call(tool, args);
        expect({ tool, isError, value }).toMatchObject({ isError: false });
        return value;
      };
      expect(await answer("claudecode_list", {})).toMatchObject({ sessions: [{ name: "worker", status: "complete" }] });
      const { config } = await answer("claudecode_get", { name: "worker" });
      expect(config).toMatchObject({ id: SESSION, working_dir: "/", metadata: { of: "mine" } });
      expect(await answer("claudecode_poll", { session_id: SESSION, from_seq: 0 })).toMatchObject({
        events: [{ seq: 0 }, { seq: 1, event: { type: "content", text: "Done." } }, { seq: 2 }],
      });
      expect(await answer("claudecode_streams", {})).toMatchObject({ streams: [{ turn_id: TURN, event_count: 3 }] });
      expect(await answer("claudecode_get_tree", { name: "worker" })).toMatchObject({ nodes: [{}, {}, {}] });
      expect(await answer("claudecode_render_context", { name: "worker" })).toMatchObject({
        messages: [{ role: "user" }, { role: "assistant" }],
      });
      expect(await answer("loopback_pending", {})).toMatchObject({ approvals: [{ id: PENDING }] });
      expect(await answer("loopback_get", { approval_id: ALLOWED })).toMatchObject({
        approval: { status: "allowed", response_message: "go on" },
      });
    });

    test("accepts a decision on a request that was pending", async () => {
      await using directory = await temporaryDirectory();
      writeEarlierDatabase(directory.path, newest);
      await using plexus = await startPlexus({ dataDir: directory.path });
      const parent = await plexus.connect();
      const { value } = await parent.call("loopback_respond", { approval_id: PENDING, approve: true });
      expect(value).toMatchObject({ type: "ok", status: "allowed" });
    });
  },
);

test("a request of a turn that runs during the upgrade still belongs to that turn, and its decision counts once", async () => {
  await using directory = await temporaryDirectory();
  writeEarlierDatabase(directory.path, 2);
  const path = join(directory.path, "plexus.db");
  {
    using sqlite = new Database(path);
    sqlite.run("UPDATE turns SET status = 'running', ended_at = NULL, started_at = 1");
    migrate(sqlite);
  }
  using sqlite = new Database(path, { readonly: true });
  const rows = sqlite
    .query("SELECT id, asked_in, delivered_at IS NULL AS waits FROM loopback_approvals ORDER BY waits")
    .all();
  expect(rows).toEqual([
    { id: ALLOWED, asked_in: TURN, waits: 0 },
    { id: PENDING, asked_in: TURN, waits: 1 },
  ]);
  expect(sqlite.query("SELECT is_accounted FROM turns").all()).toEqual([{ is_accounted: 0 }]);
});

test("the hash chain begins with the number of earlier decisions, and verifies at once", async () => {
  await using directory = await temporaryDirectory();
  writeEarlierDatabase(directory.path, 2);
  await using plexus = await startPlexus({ dataDir: directory.path });
  const report = await plexus.app.auditCheck.verify();
  expect(report).toMatchObject({ intact: true, chains: [{ chain: "decisions", entries: 1 }, { entries: 0 }] });
});

/** The rows with only the columns that `others` have too, without the `held_` columns, which change at every start. */
function shared(rows: Row[], others: Row[]): Row[] {
  const columns = Object.keys(others[0] ?? {}).filter((column) => !column.startsWith("held_"));
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => columns.includes(column))));
}

test("a turn from before sizes were stored has its size after the upgrade", async () => {
  await using directory = await temporaryDirectory();
  writeEarlierDatabase(directory.path, 4);
  using sqlite = new Database(join(directory.path, "plexus.db"));
  migrate(sqlite);
  const stored = sqlite
    .query("SELECT turn_id AS id, sum(length(event)) AS bytes FROM turn_events GROUP BY turn_id")
    .all();
  expect(stored).toHaveLength(1);
  expect(sqlite.query("SELECT id, event_bytes AS bytes FROM turns").all()).toEqual(stored);
});

test("an old fork has its MCP servers from the creator of the first session of its conversation", () => {
  using sqlite = new Database(":memory:");
  migrate(sqlite, MIGRATIONS.slice(0, 5));
  const insert = sqlite.query(
    "INSERT INTO sessions (id, name, owner, kind, created_at, tree_id, config) VALUES (?, ?, ?, 'managed', 1, ?, '{}')",
  );
  insert.run("1", "first", "token:a", "tree");
  insert.run("2", "fork", "operator", "tree");
  insert.run("3", "own", "operator", "another");
  migrate(sqlite);
  expect(sqlite.query("SELECT id, servers_from FROM sessions ORDER BY id").values()).toEqual([
    ["1", "token:a"],
    ["2", "token:a"],
    ["3", "operator"],
  ]);
});

test("a turn that runs at the upgrade counts as its owner's last start, and a pending request is held by no server", () => {
  using sqlite = new Database(":memory:");
  migrate(sqlite, MIGRATIONS.slice(0, 6));
  const session = sqlite.query(
    "INSERT INTO sessions (id, name, owner, kind, created_at) VALUES (?, ?, ?, 'managed', 1)",
  );
  const turn = sqlite.query(
    "INSERT INTO turns (id, session_id, owner, status, ephemeral, started_at) VALUES (?, ?, ?, ?, 0, ?)",
  );
  for (const [at, [owner, status]] of [
    ["late", "running"],
    ["early", "running"],
    ["over", "complete"],
  ].entries()) {
    session.run(`s-${at}`, `s-${at}`, owner ?? "");
    turn.run(`t-${at}`, `s-${at}`, owner ?? "", status ?? "", 10 - at);
  }
  sqlite.run(
    `INSERT INTO loopback_approvals (id, session_id, session_name, owner, tool_name, input, ask_hash, status, created_at, expires_at)
     VALUES ('a', 's-0', 's-0', 'late', 'Bash', '{}', 'h', 'pending', 1, 2)`,
  );
  migrate(sqlite);
  const shares = sqlite.query("SELECT owner FROM turn_shares ORDER BY last_start").values();
  expect(shares).toEqual([["early"], ["late"]]);
  expect(sqlite.query("SELECT held_by, held_until FROM loopback_approvals").values()).toEqual([[null, null]]);
});

test("readers begin at the upgrade, a running turn has its requests counted, and a claude started by hand may still ask", () => {
  using sqlite = new Database(":memory:");
  const step = MIGRATIONS.findIndex(({ tag }) => tag.endsWith("told_readers"));
  migrate(sqlite, MIGRATIONS.slice(0, step));
  const session = sqlite.query("INSERT INTO sessions (id, name, owner, kind, created_at) VALUES (?, ?, 'o', ?, 1)");
  const turn = sqlite.query(
    "INSERT INTO turns (id, session_id, owner, status, ephemeral, started_at) VALUES (?, 's', 'o', ?, 0, 1)",
  );
  const approval = sqlite.query(
    `INSERT INTO loopback_approvals (id, session_id, session_name, owner, tool_name, input, ask_hash, created_at, expires_at, asked_in, status, is_builtin)
     VALUES (?, 's', 's', 'o', 'Bash', '{}', 'h', 1, 2, ?, ?, ?)`,
  );
  session.run("s", "s", "managed");
  session.run("h", "h", "by_hand");
  for (const [id, status] of Object.entries({ over: "complete", t: "running" })) turn.run(id, status);
  const asked = ["allowed", "allowed", "denied", "timed_out", "abandoned", "pending", "allowed", "denied"];
  for (const [number, status] of asked.entries()) {
    approval.run(`a-${number}`, "t", status, number > 5 ? 1 : 0);
    approval.run(`b-${number}`, "over", status, 0);
  }
  for (const id of ["1", "2", "3"])
    sqlite.run("INSERT INTO changes (kind, owner, session_id, subject_id, at) VALUES ('turn_ended', 'o', 's', ?, 1)", [
      id,
    ]);
  migrate(sqlite);
  expect(sqlite.query("SELECT owner, consumer, session_id, position FROM readers").values()).toEqual([["", "", "", 3]]);
  const counted = sqlite.query("SELECT id, allowed, denied, timed_out, abandoned, builtin FROM turns ORDER BY id");
  expect(counted.values()).toEqual([
    ["over", 0, 0, 0, 0, 0],
    ["t", 2, 1, 1, 1, 2],
  ]);
  const seen = sqlite.query<{ id: string; seen_at: number | null }, []>("SELECT id, seen_at FROM sessions ORDER BY id");
  const [byHand, managed] = seen.all();
  expect(Math.abs((byHand?.seen_at ?? 0) - Date.now())).toBeLessThan(60_000);
  expect(managed).toEqual({ id: "s", seen_at: null });
});

test("a session keeps its cost at the upgrade, and a fork keeps the cost of its own turns", () => {
  using sqlite = new Database(":memory:");
  migrate(sqlite, earlierThan("_own_cost"));
  const session = sqlite.query(
    "INSERT INTO sessions (id, name, owner, kind, created_at, tree_id, total_cost_usd) VALUES (?, ?, 'operator', 'managed', 1, ?, ?)",
  );
  const turn = sqlite.query(
    "INSERT INTO turns (id, session_id, owner, status, ephemeral, started_at, usage) VALUES (?, ?, 'operator', 'complete', 0, 1, ?)",
  );
  session.run("1", "first", "tree", 0.5);
  session.run("2", "fork", "tree", 0.75);
  session.run("3", "own", "another", 0.1);
  turn.run("t-1", "2", JSON.stringify({ cost_usd: 0.125 }));
  turn.run("t-2", "2", JSON.stringify({ cost_usd: 0.125 }));
  turn.run("t-3", "2", null);
  migrate(sqlite);
  expect(sqlite.query("SELECT own_cost_usd FROM sessions ORDER BY id").values()).toEqual([[0.5], [0.25], [0.1]]);
});

test("the hourly sums include decisions and costs from before the upgrade", () => {
  using sqlite = new Database(":memory:");
  migrate(sqlite, earlierThan("_activity"));
  sqlite.run(
    "INSERT INTO sessions (id, name, owner, kind, created_at) VALUES ('s', 'worker', 'operator', 'managed', 1)",
  );
  const approval = sqlite.query(
    `INSERT INTO loopback_approvals (id, session_id, session_name, owner, tool_name, input, ask_hash, status, created_at, expires_at, resolved_at, resolved_by)
     VALUES (?, 's', 'worker', 'operator', 'Bash', '{}', ?, ?, ?, 9, ?, ?)`,
  );
  const hour = 3_600_000;
  approval.run("1", "1", "allowed", 5 * hour, 5 * hour + 12_345, "operator");
  approval.run("2", "2", "allowed", 5 * hour, 5 * hour + 12_345, "operator");
  approval.run("3", "3", "denied", 6 * hour, 6 * hour, "rule:a");
  approval.run("4", "4", "allowed", 6 * hour, 6 * hour, "builtin:read");
  approval.run("5", "5", "pending", 6 * hour, null, null);
  const turn = sqlite.query(
    "INSERT INTO turns (id, session_id, owner, status, ephemeral, started_at, ended_at, event_count, usage) VALUES (?, 's', 'operator', ?, 0, 1, ?, ?, ?)",
  );
  turn.run("t-1", "complete", 5 * hour, 3, JSON.stringify({ cost_usd: 0.5, input_tokens: 10, output_tokens: 2 }));
  turn.run("t-2", "complete", 5 * hour, 3, null);
  turn.run("never-ran", "cancelled", 5 * hour, 0, null);
  turn.run("runs", "running", null, 3, null);
  migrate(sqlite);
  const step = waitStepOf({ createdAt: 0 }, outcome({ resolvedAt: 12_345 }));
  const sums =
    "SELECT hour, by, outcome, wait_step, count, cost_usd, input_tokens FROM activity_hours ORDER BY 1, 2, 3";
  expect(sqlite.query(sums).values()).toEqual([
    [5, "", "complete", 0, 2, 0.5, 10],
    [5, "operator", "allowed", step, 2, 0, 0],
    [6, "builtin", "allowed", 0, 1, 0, 0],
    [6, "rule", "denied", 0, 1, 0, 0],
  ]);
});

/** The migrations before the one with this name. */
function earlierThan(name: string) {
  return MIGRATIONS.slice(
    0,
    MIGRATIONS.findIndex(({ tag }) => tag.endsWith(name)),
  );
}

test("rule hits from before they were counted per owner still appear in the totals", () => {
  using sqlite = new Database(":memory:");
  migrate(sqlite, earlierThan("_hits_by_owner"));
  sqlite.run("INSERT INTO rule_hits (id, hits, last_hit_at) VALUES ('builtin:read', 7, 5)");
  migrate(sqlite);
  expect(sqlite.query("SELECT id, owner, hits, last_hit_at FROM rule_hits").values()).toEqual([
    ["builtin:read", "", 7, 5],
  ]);
});
