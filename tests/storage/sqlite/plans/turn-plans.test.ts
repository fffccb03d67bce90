import { beforeAll, describe, expect, test } from "bun:test";
import { SessionStatus } from "../../../../src/contract/sessions/turn.ts";
import { awaitedQueries } from "../../../../src/storage/sqlite/events/awaited.ts";
import { readerQueries } from "../../../../src/storage/sqlite/events/readers.ts";
import { nodeQueries } from "../../../../src/storage/sqlite/sessions/nodes.ts";
import { sessionQueries } from "../../../../src/storage/sqlite/sessions/sessions.ts";
import { turnQueries } from "../../../../src/storage/sqlite/turns/turns.ts";
import { newConfig, newSession } from "../../rows.ts";
import { openPlans } from "./query-plans.ts";

const { sqlite, orm, plansOf } = openPlans();
const sessions = sessionQueries(orm, sqlite, true);
const turns = turnQueries(orm, "me");
const nodes = nodeQueries(orm);
const [awaited, readers] = [awaitedQueries(orm), readerQueries(orm)];
const BY_ID = "SEARCH turns USING INDEX sqlite_autoindex_turns_1 (id=?)";
const BY_SEQ = "SEARCH turn_events USING INDEX sqlite_autoindex_turn_events_1 (turn_id=? AND seq>?)";
const BY_CONSUMER = "SEARCH read_positions USING INDEX sqlite_autoindex_read_positions_1 (turn_id=? AND consumer=?)";
const plans = (work: () => unknown) => plansOf(work).map(({ plan }) => plan);

describe.each(["without statistics", "with statistics"])("with many turns behind it, %s,", (statistics) => {
  beforeAll(() => {
    sqlite.run("DELETE FROM sessions");
    sqlite.run("DELETE FROM nodes");
    sqlite.transaction(() => {
      for (let session = 0; session < 9; session++) {
        sessions.create(newSession({ id: `s-${session}`, name: `s-${session}`, treeId: `tree-${session}` }));
        for (let number = 0; number < 100; number++) {
          addTurn(`s-${session}`, `turn-${session}-${number}`);
          addNode(`tree-${session}`, number);
        }
      }
    })();
    for (let number = 0; number < 500; number++) {
      readers.advance({ owner: `o-${number % 9}`, consumer: `c-${number}` }, 1, number);
      for (const kind of ["turn_started", "turn_ended"])
        sqlite.run("INSERT INTO changes (kind, owner, session_id, subject_id, at) VALUES (?, 'operator', ?, ?, 1)", [
          kind,
          `s-${number % 9}`,
          `turn-${number % 9}-${number % 100}`,
        ]);
    }
    if (statistics === "with statistics") sqlite.run("ANALYZE");
  });

  test("events are numbered by the turn's id and appended without a search", () => {
    expect(plans(() => turns.appendEventsIfRunning("turn-1-99", [{ type: "content", text: "x" }], 1))).toEqual([
      BY_ID,
      "",
    ]);
  });

  test("events are read along their numbers", () => {
    expect(plans(() => turns.events("turn-1-1", 5, 10))).toEqual([BY_SEQ]);
    expect(plans(() => turns.eventPage("turn-1-1", 5, { limit: 10, maxBytes: 100 }))).toEqual([BY_SEQ, BY_SEQ]);
    const back = BY_SEQ.replace(">", "<");
    expect(plans(() => turns.eventsBefore("turn-1-1", 5, { limit: 10, maxBytes: 100 }))).toEqual([back, back]);
    expect(plans(() => turns.shortEvents("turn-1-1", { from: 5, to: 9, maxBytes: 100 }))).toEqual([
      BY_SEQ.replace("seq>?", "seq>? AND seq<?"),
    ]);
  });

  test("a call is searched from the newest event of its turn back", () => {
    const ofTurn = "SEARCH turn_events USING INDEX sqlite_autoindex_turn_events_1 (turn_id=?)";
    expect(plans(() => turns.toolUse("turn-1-1", "toolu_1"))).toEqual([ofTurn]);
  });

  test("a child's last words are read by number, from the newest event back", () => {
    expect(plans(() => turns.wordsBefore("turn-1-1", 5, 10))).toEqual([BY_SEQ.replace(">", "<")]);
  });

  test("a position is found by its reader, and advanced without a search", () => {
    expect(plans(() => turns.position("turn-1-1", "me"))).toEqual([BY_CONSUMER]);
    expect(plans(() => turns.advance("turn-1-1", "me", 3))).toEqual([""]);
  });

  test("a session's running turn is found among running turns", () => {
    expect(plans(() => turns.running("s-1"))).toEqual(["SEARCH turns USING INDEX turns_running (session_id=?)"]);
    const inSlots = "turns USING COVERING INDEX turns_in_slots (data_dir_id=?";
    expect(plans(() => turns.countInSlots())).toEqual([`SEARCH ${inSlots} AND is_borrowed=?)`]);
    expect(plans(() => turns.runningOwners())).toEqual([`SEARCH ${inSlots})`]);
    for (const found of [() => turns.listRunning(), () => turns.stopsAskedFor()])
      expect(plans(found).join()).toContain("SEARCH turns USING INDEX turns_in_slots (data_dir_id=?)");
    expect(plans(() => turns.stopElsewhere("turn-1-99", "why"))).toEqual([BY_ID]);
  });

  test("queued turns are read from an index of queued turns", () => {
    const among = "turns USING COVERING INDEX turns_queued";
    expect(plans(() => turns.isAnyQueued())).toEqual([`SCAN ${among}`]);
    expect(plans(() => turns.listQueued()).join()).toContain(`SCAN ${among}`);
    expect(plans(() => turns.queuedIdsOf("operator")).join()).toContain(`SEARCH ${among} (owner=?)`);
    expect(plans(() => turns.queueSize()).join()).toContain("INDEX turns_queued");
    expect(plans(() => turns.queueSize("operator")).join()).toContain("INDEX turns_queued (owner=?)");
    expect(plans(() => turns.startIfQueued("turn-1-99", 1))).toEqual([BY_ID, BY_ID]);
  });

  test("the latest turn, the next one and a page are read along the session's turns", () => {
    const ofSession = "SEARCH turns USING INDEX turns_session (session_id=?";
    expect(plans(() => turns.latest("s-1"))).toEqual([`${ofSession})`]);
    expect(plans(() => turns.firstAfter("s-1", "turn-1-1"))).toEqual([`${ofSession} AND id>?)`]);
    expect(plans(() => turns.list({ sessionId: "s-1" }, 10))).toEqual([`${ofSession})`]);
    expect(plans(() => turns.list({ sessionId: "s-1" }, 10, "turn-1-1"))).toEqual([`${ofSession} AND id<?)`]);
  });

  test("a turn is read, updated and ended by its id", () => {
    const end = { status: "complete", error: null, usage: null, endedAt: 1 } as const;
    expect(plans(() => turns.get("turn-1-1"))).toEqual([BY_ID]);
    expect(plans(() => turns.checkpoint("turn-1-1"))).toEqual([BY_ID]);
    expect(plans(() => turns.setCheckpoint("turn-1-1", { offset: 1 }))).toEqual([BY_ID]);
    expect(plans(() => turns.setProcess("turn-1-1", { pid: 1, processStart: "1" }))).toEqual([BY_ID]);
    expect(plans(() => turns.endIfRunning("turn-1-1", end))).toEqual([BY_ID]);
  });

  test("old turns are found by their end time", () => {
    expect(plans(() => turns.removeEndedBefore(0, 10)).join()).toContain("USING INDEX turns_ended (ended_at<?)");
    const ofOwner = plans(() => turns.removeEndedOfOwner("operator", 0, 10)).join();
    expect(ofOwner).toContain("turns_ended_of_owner (owner=? AND ended_at<?)");
  });

  test("messages are added without a search, and listed along their tree", () => {
    expect(plans(() => addNode("tree-1", 100))).toEqual([""]);
    expect(plans(() => nodes.listTree("tree-1", 10))).toEqual(["SEARCH nodes USING INDEX nodes_tree (tree_id=?)"]);
    expect(plans(() => nodes.path("tree-1-99")).join()).not.toContain("SCAN nodes");
    expect(plans(() => sessions.setHead("s-1", "tree-1-100"))).toEqual([
      "SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (id=?)",
    ]);
  });

  test("a page of sessions is read in id order, and each session's status is found by its id", () => {
    const along = "SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (id<?)";
    expect(plans(() => sessions.list(undefined, { limit: 10 }))).toEqual([
      "SCAN sessions USING INDEX sqlite_autoindex_sessions_1",
    ]);
    expect(plans(() => sessions.list(undefined, { cursor: "s-1", limit: 10 }))).toEqual([along]);
    const goingOn: Record<string, string> = {
      queued: "SCAN turns USING INDEX turns_queued",
      running: "SCAN turns USING COVERING INDEX turns_running",
      awaiting_permission: "SCAN turns USING COVERING INDEX turns_running",
    };
    for (const status of SessionStatus.options) {
      const [whole = ""] = plans(() => sessions.list(undefined, { status, cursor: "s-1", limit: 10 }));
      const few = goingOn[status];
      expect(whole).toStartWith(few ? `${along.replace("<", "=")}; LIST SUBQUERY 1; ${few}` : along);
      const plan = few ? whole.replace(few, "") : whole;
      expect(plan).toContain("SEARCH turns USING INDEX turns_session (session_id=?)");
      expect(plan).not.toMatch(/SCAN (turns|loopback_approvals)|TEMP B-TREE/);
    }
  });

  test("a page of sessions reads no settings, and each listed session reads only the directory", () => {
    const config = newConfig({ metadata: { x: "a".repeat(1_000) } });
    sessions.create(newSession({ id: `t-${statistics}`, name: statistics, config }));
    const [{ text } = { text: "" }] = plansOf(() => sessions.list(undefined, { limit: 10 }));
    expect(text.replaceAll(/octet_length\((next_)?config\)/g, "")).not.toContain("config");
    const listed = sessions.listed(`t-${statistics}`);
    expect(listed).toMatchObject({ name: statistics, workingDir: "/srv/project" });
    expect(listed).not.toHaveProperty("config");
    expect(sessions.sizeOf("operator")).toMatchObject({ bytes: JSON.stringify(config).length });
    sessions.remove(`t-${statistics}`);
  });

  test("ended turns are found by an index of their changes alone, and their rows by id", () => {
    const query = { since: 5, reader: { owner: "operator", consumer: "" }, limit: 10 };
    const along = {
      changes_turn_ended: {},
      changes_turn_ended_of_owner: { owner: "operator" },
      changes_turn_ended_of_session: { sessionId: "s-1" },
    };
    for (const [index, scope] of Object.entries(along)) {
      const [plan = ""] = plans(() => awaited.ended(scope, query));
      expect(plan).toContain(`SEARCH changes USING INDEX ${index} (`);
      expect(plan).toContain(BY_ID);
      expect(plan).toContain(
        "SEARCH readers USING INDEX sqlite_autoindex_readers_1 (owner=? AND consumer=? AND session_id=?)",
      );
      expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
    }
  });

  test("ongoing turns are found among running and queued ones", () => {
    for (const scope of [{}, { owner: "operator" }, { sessionId: "s-1" }]) {
      const [running = "", queued = ""] = plans(() => awaited.ongoing(scope, 10));
      expect(running).toContain("turns USING INDEX turns_running");
      expect(queued).toMatch(/turns USING INDEX (turns_queued|turns_session \(session_id=\?\))/);
      for (const plan of [running, queued]) expect(plan).not.toMatch(/SCAN (sessions|loopback_approvals)/);
    }
  });

  test("a claude started by hand is found by when it was last seen", () => {
    for (const scope of [{}, { owner: "operator" }])
      expect(plans(() => awaited.isAnySeen(scope, 1))).toEqual([
        "SEARCH sessions USING INDEX sessions_by_hand (seen_at>?)",
      ]);
    expect(plans(() => awaited.isAnySeen({ sessionId: "s-1" }, 1)).join()).toContain("(id=?)");
    expect(plans(() => sessions.noteSeen("s-1", 1)).join()).toContain("sqlite_autoindex_sessions_1 (id=?)");
    expect(plans(() => turns.countRequest("turn-1-1", "allowed"))).toEqual([BY_ID]);
  });

  test("a reader is found by its key, and a new reader's start among ended turns", () => {
    const key = "SEARCH readers USING INDEX sqlite_autoindex_readers_1 (owner=?";
    const reader = { owner: "operator", consumer: "new", sessionId: "s-1" };
    const searched = plans(() => readers.standing(reader, "operator", { endedSince: 0, limit: 10 }));
    expect(searched.at(-1)).toBe("SEARCH changes USING INDEX changes_turn_ended_of_owner (owner=? AND id<?)");
    for (const plan of searched.slice(0, -1)) expect(plan).toStartWith(key);
    expect(plans(() => readers.advance(reader, 1, 1))[0]).toStartWith(key);
    expect(plans(() => readers.removeOldestOf("operator", 0)).join()).toContain(key);
    expect(plans(() => readers.removeUnusedSince(1, 10)).join()).toContain("readers_used (used_at<?)");
  });
});

/** All turns of a session but the last have ended. */
function addTurn(sessionId: string, id: string): void {
  turns.createIfNoneRuns({
    id,
    sessionId,
    owner: "operator",
    ephemeral: false,
    startedAt: 1,
    checkpoint: { offset: 0 },
  });
  const events = Array.from({ length: 10 }, () => ({ type: "content" as const, text: "word" }));
  turns.appendEventsIfRunning(id, events, 1);
  turns.advance(id, "", 5);
  if (!id.endsWith("-99")) turns.endIfRunning(id, { status: "complete", error: null, usage: null, endedAt: 1_000 });
}

/** Each node is the child of the one before it. */
function addNode(treeId: string, number: number): void {
  const parentId = number === 0 ? null : `${treeId}-${number - 1}`;
  nodes.add({ id: `${treeId}-${number}`, treeId, parentId, role: "user", content: {}, createdAt: 1 });
}
