import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import { READS } from "../../../../bench/growth/growth.ts";
import { storageOn } from "../../../../src/storage/sqlite/engine.ts";
import { migrate } from "../../../../src/storage/sqlite/migrations.ts";
import { createOrm } from "../../../../src/storage/sqlite/statements/orm.ts";
import type { Storage } from "../../../../src/storage/storage.ts";

/** Tables that grow with the server's history. */
const GROWING = [
  "loopback_approvals",
  "call_outlines",
  "turn_events",
  "turns",
  "changes",
  "audit",
  "nodes",
  "sessions",
  "unasked_calls",
];

/** Scans that stop after a page: the index has the order of the page, and there is no other filter. */
const WALKS = [
  /^select "id", .* from "sessions" order by "sessions"."id" desc limit \?$/,
  /^select "id", octet_length\(input\) from "loopback_approvals"( where is_builtin = 0)? order by "loopback_approvals"."id" desc limit \?$/,
  /^select .* from "loopback_approvals" left join "call_outlines" on \S+ = \S+ where is_builtin = 0 order by "loopback_approvals"."id" desc limit \?$/,
  /^select .* from "turns" order by "turns"."id" desc limit \?$/,
  /^select "at" from "changes" order by "changes"."id" asc limit \?$/,
  /^delete from "changes" where \("changes"."id" in \(select "id" from "changes" order by "changes"."id" asc limit \?\)/,
  /^select "id", octet_length\(input\) from "unasked_calls" order by "unasked_calls"."id" desc limit \?$/,
  /^SELECT \(SELECT max\(id\) FROM loopback_approvals\)/,
];
/**
 * Scans of the index with the sizes of ended turns and decided requests: they run only when the history is too large.
 */
const SIZES = /^SELECT (owner, sum|at FROM)/;
/**
 * Scans of an index that contains only pending, running or queued rows, or sessions with a budget: it doesn't grow with
 * the history.
 */
const FEW =
  /USING (COVERING )?INDEX (sessions_budget|approvals_pending_\w+|approvals_unchained|turns_running|turns_in_slots|turns_queued)\b/;

/** Records every prepared statement. */
class NotingDatabase extends Database {
  readonly texts = new Set<string>();
  override prepare: Database["prepare"] = (text: string, ...rest: never[]) => {
    this.texts.add(text);
    return super.prepare(text, ...rest);
  };
  override query: Database["query"] = (text: string) => {
    this.texts.add(text);
    return super.query(text);
  };
}

const sqlite = new NotingDatabase(":memory:");
migrate(sqlite);
const now = () => 1_000_000;
const write = async <T>(work: (announce: () => void) => T): Promise<T> => work(() => {});
const storage: Storage = {
  ...storageOn({
    sqlite,
    orm: createOrm(sqlite, { onPrepared: (text) => void sqlite.texts.add(text) }),
    write: write as never,
    path: "",
    now,
    isAlone: false,
    dataDirId: "here",
  }),
  [Symbol.dispose]() {},
};

/** The queries that the benchmarks' reads don't use: each filter, and everything that upkeep does. */
async function everythingElse(): Promise<void> {
  const scopes = [{}, { owner: "token:a" }, { sessionId: "s" }, { owner: "token:a", sessionId: "s" }];
  for (const scope of scopes) {
    for (const toolName of [undefined, "Bash"])
      for (const cursor of [undefined, "x"])
        for (const withBuiltin of [false, true])
          for (const status of [undefined, "pending"] as const)
            await storage.approvals.list(scope, { status, toolName, cursor, withBuiltin, limit: 5 });
    for (const status of ["resolved", "denied"] as const)
      await storage.approvals.listDecided(scope, { status, search: "x", from: 1, limit: 5, maxBytes: 1 });
    await storage.approvals.listPending(scope, 5);
    await storage.past.list({ ...scope, toolName: "Edit", before: "x", limit: 5 });
    await storage.past.list({ ...scope, before: "x", limit: 5 });
    await storage.past.list({ ...scope, withAll: true, limit: 5 });
    await storage.past.inputs(["a"]);
    await storage.past.keepOutlines([{ id: "a", outlineKey: "k", outline: null }]);
    await storage.changes.ended(scope, { since: 1, reader: { owner: "a", consumer: "" }, limit: 5 });
    const ended = { since: 1, limit: 5 };
    await storage.changes.awaited(scope, { ended, skip: ["x"], maxPending: 5, maxOngoing: 5, seenSince: 1 });
    await storage.turns.list(scope, 5, "x");
    for (const cursor of [undefined, "x"])
      await storage.unaskedCalls.list({ ...scope, turnId: "t" }, { cursor, limit: 5 });
    await storage.unaskedCalls.list(scope, { limit: 5 });
  }
  for (const owner of [undefined, "token:a"]) await storage.push.untold({ owner, toldId: "x" }, 5);
  for (const owner of [undefined, "token:a"])
    for (const status of ["queued", "running", "awaiting_permission"] as const)
      await storage.sessions.list(owner, { status, cursor: "x", limit: 5 });
  await storage.approvals.takeOver(1);
  await storage.audit.decided("x", 5);
  await storage.audit.begin(1);
  await storage.audit.forgetBefore("decisions", 1, 5, 1);
  await storage.audit.cutInputs("a", 1, 5, 1);
  await storage.changes.removeBefore(1, 5);
  await storage.changes.oldestAt();
  await storage.conversations.listTree("t", 5);
  await storage.conversations.path("n");
  await storage.history.removeTurnsEndedBefore(1, 5);
  await storage.history.removeTurnsOfOwnerEndedBefore("a", 1, 5);
  await storage.history.removeUnchainedBefore(1, 5);
  await storage.sessions.find("a", "name");
  await storage.sessions.names("a", 5);
  await storage.sessions.removeTurnsIfIdle("s", 5, undefined);
  await storage.sessions.removeIfIdle("s", undefined);
  await storage.tokens.revoke("t", "token:t", 1);
  await storage.turns.listRunning();
  await storage.turns.queueState();
  await storage.turns.wordsBefore("t", 5, 5);
  await storage.turns.eventsBefore("t", 5, { limit: 5, maxBytes: 5 });
}

/** The tables that a statement scans from end to end. */
function scanned(text: string): string[] {
  using statement = Database.prototype.prepare.call(sqlite, `EXPLAIN QUERY PLAN ${text}`);
  const steps = statement.all(...Array.from({ length: statement.paramsCount }, () => null)) as { detail: string }[];
  return steps
    .map(({ detail }) => detail)
    .filter((detail) => GROWING.includes(/^SCAN (\w+)/.exec(detail)?.[1] ?? "") && !FEW.test(detail));
}

beforeAll(async () => {
  for (const read of Object.values(READS)) await read(storage);
  await everythingElse();
});

test("no statement scans a whole table that grows with the history", () => {
  const explainable = [...sqlite.texts].filter((text) => /^\s*(select|with|insert|update|delete)/i.test(text));
  const known = [...WALKS, SIZES];
  const scans = explainable
    .filter((text) => !known.some((walk) => walk.test(text)))
    .flatMap((text) => scanned(text).map((plan) => ({ text, plan })));
  expect(explainable.length).toBeGreaterThan(150);
  expect(scans).toEqual([]);
});

test("every exception matches an existing statement", () => {
  for (const walk of WALKS) expect([...sqlite.texts].some((text) => walk.test(text))).toBe(true);
});
