import { openStorage } from "../../src/storage/sqlite/database.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Figures } from "../children/sessions.ts";
import { ms, percentile, type Row, times } from "../measure.ts";
import { temporaryDataDir } from "../server/server-process.ts";
import { type PastSize, RARE, sessionId, storePast } from "./stored-past.ts";

const GOAL_MS = 5;
const ROUNDS = 9;
const PAGE = 50;

const DECIDED = { status: "resolved", limit: PAGE, maxBytes: 4_000_000 } as const;

type Read = (storage: Storage) => Promise<unknown>;

/** Every kind of read of growing tables, named as a person would. */
export const READS: Record<string, Read> = {
  "history, newest": ({ approvals }) => approvals.list({}, { limit: PAGE }),
  "history, with built-in decisions": ({ approvals }) => approvals.list({}, { withBuiltin: true, limit: PAGE }),
  "history of a session": ({ approvals }) => approvals.list({ sessionId: RARE.session }, { limit: PAGE }),
  "history of a token that asked for nothing": ({ approvals }) =>
    approvals.list({ owner: RARE.owner }, { limit: PAGE }),
  "history of a rare tool": ({ approvals }) => approvals.list({}, { toolName: RARE.tool, limit: PAGE }),
  "decisions, newest": ({ approvals }) => approvals.listDecided({}, DECIDED),
  "decisions since a minute ago": ({ approvals }) =>
    approvals.listDecided({}, { ...DECIDED, from: Date.now() - 60_000 }),
  "decisions of a rare outcome, one slice": ({ approvals }) =>
    approvals.listDecided({}, { ...DECIDED, status: RARE.status }),
  "decisions by a text, one slice": ({ approvals }) => approvals.listDecided({}, { ...DECIDED, search: "nothing" }),
  "pending requests": ({ approvals }) => approvals.listPending({}, PAGE),
  "the next deadline": ({ approvals }) => approvals.nextDeadline(),
  "past calls of a rare tool": ({ past }) => past.list({ toolName: RARE.tool, limit: PAGE }),
  "changes of a token with nothing": ({ changes }) => changes.listAfter(0, RARE.owner, PAGE),
  "changes, newest": async ({ changes }) => changes.listAfter((await changes.newestId()) - PAGE, undefined, PAGE),
  "ends of turns of a token with nothing": ({ changes }) =>
    changes.ended({ owner: RARE.owner }, { since: 0, limit: PAGE }),
  "what somebody who waits is told": ({ changes }) =>
    changes.awaited(
      { owner: RARE.owner },
      { ended: { since: 0, limit: PAGE }, skip: [], maxPending: PAGE, maxOngoing: PAGE, seenSince: 0 },
    ),
  "turns of a token with nothing": ({ turns }) => turns.list({ owner: RARE.owner }, PAGE),
  "turns of a session": ({ turns }) => turns.list({ sessionId: RARE.session }, PAGE),
  "turns, newest": ({ turns }) => turns.list({}, PAGE),
  "events of a turn": ({ turns }) => turns.eventPage(RARE.session, 5, { limit: PAGE, maxBytes: 1_000_000 }),
  "a poll": ({ turns }) =>
    turns.progress(RARE.session, {
      consumer: "",
      fromSeq: undefined,
      maxPending: 10,
      limit: PAGE,
      maxBytes: 1_000_000,
    }),
  "sessions, newest": ({ sessions }) => sessions.list(undefined, { limit: PAGE }),
  "sessions of a token with none": ({ sessions }) => sessions.list(RARE.owner, { limit: PAGE }),
  "sessions that run": ({ sessions }) => sessions.list(undefined, { status: "running", limit: PAGE }),
  "sessions that need approval": ({ sessions }) =>
    sessions.list(undefined, { status: "awaiting_permission", limit: PAGE }),
  "the clean-up of a conversation": async ({ conversations }) =>
    conversations.removeSomeIfUnused((await conversations.treeAfter("tree-5")) ?? "", PAGE),
  "unasked calls of a session": ({ unaskedCalls }) => unaskedCalls.list({ sessionId: sessionId(3) }, { limit: PAGE }),
  "a page of the audit": ({ audit }) => audit.page("decisions", 5, PAGE),
  "figures of /metrics": async ({ figures }) => {
    await figures.pending();
    await figures.running();
    await figures.queued();
  },
};

/** Measures each read as the database grows: its time should stay flat. */
export async function growthFigures(sizes: PastSize[]): Promise<Figures> {
  const measured = new Map<string, number[]>(Object.keys(READS).map((name) => [name, []]));
  for (const size of sizes) {
    using directory = temporaryDataDir();
    storePast(directory.path, size);
    using storage = openStorage(directory.path, () => {});
    for (const [name, read] of Object.entries(READS)) measured.get(name)?.push(await median(storage, read));
  }
  const rows = [...measured].map(([what, found]): Row => {
    const [first = Number.NaN, last = Number.NaN] = [found[0], found.at(-1)];
    const growth = `${times(last / first)} of the smallest`;
    return {
      what,
      measured: `${found.map(ms).join(" → ")}, ${growth}`,
      goal: `≤ ${GOAL_MS} ms`,
      met: last <= GOAL_MS,
    };
  });
  const named = sizes.map(({ approvals, events, sessions }) => `${approvals}/${events}/${sessions}`).join(" → ");
  return { title: `(m) Reads as the database grows: approvals/events/sessions ${named}, p50`, rows };
}

async function median(storage: Storage, read: Read): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await read(storage);
    samples.push(performance.now() - start);
  }
  return percentile(samples, 0.5);
}
