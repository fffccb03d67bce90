import fc from "fast-check";
import type { Change } from "../../../src/contract/change.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import type { Admission, Output } from "../../../src/storage/turns.ts";
import {
  ANY_NUMBER,
  ANY_PENDING,
  ANY_QUEUE,
  newApproval,
  newConfig,
  newSession,
  runningTurn,
  UNRULED,
} from "../rows.ts";

export type OpenedStorage = Omit<Storage, typeof Symbol.dispose>;
/** An empty database of an engine, deleted with all its connections when disposed. */
export type OpenedEngine = AsyncDisposable & {
  storage: OpenedStorage;
  /** Opens the same database for a server on another data dir; its commits call `onCommitted` too. */
  connect: () => Promise<OpenedStorage>;
  /** Advances the clock that leases use. */
  advance: (ms: number) => void;
  /** Closes all connections and opens a new one, as the next server does. */
  reopen: () => Promise<OpenedStorage>;
};
export type OpenStorage = (onCommitted?: (changes: Change[]) => void) => Promise<OpenedEngine>;

/** What a test gets: a race is split between two servers; `storage` is the first. */
export type OpenedForRaces = Pick<OpenedEngine, "storage" | "reopen" | "advance"> & {
  connections: [OpenedStorage, OpenedStorage];
};
export type OpenForRaces = (onCommitted?: (changes: Change[]) => void) => Promise<AsyncDisposable & OpenedForRaces>;

export function forRaces(open: OpenStorage): OpenForRaces {
  return async (onCommitted) => {
    await using stack = new AsyncDisposableStack();
    const { storage, connect, reopen, advance } = stack.use(await open(onCommitted));
    const other = await connect();
    for (const server of [storage, other]) await server.servers.renew(LEASE_MS);
    const owned = stack.move();
    return {
      storage,
      connections: [storage, other],
      reopen,
      advance,
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  };
}

export const NOW = 2_000;
/** The lease of both servers. */
export const LEASE_MS = 5_000;
/** How many rounds each race runs. */
export const ROUNDS = 25;

/** A regular end of a turn. */
export const END = { status: "complete", error: null, counted: undefined, claudeSessionId: undefined } as const;

/** A child's output, one event and one block for each text. */
export const said = (...texts: string[]): Output => ({
  events: texts.map((text) => ({ type: "content", text })),
  blocks: texts.map((text) => ({ role: "assistant", content: { type: "text", text } })),
  checkpoint: { offset: texts.length },
  mustAsk: true,
});

/** A session with its own conversation. */
export async function storedSession(storage: OpenedStorage, given: Parameters<typeof newSession>[0] = {}) {
  const [treeId, headNodeId] = [storage.newId(), storage.newId()];
  const name = given.name ?? Bun.randomUUIDv7();
  const session = newSession({ kind: "managed", config: newConfig(), treeId, headNodeId, ...given, name });
  await storage.sessions.createIfNameFree(session, "new", ANY_NUMBER);
  return session;
}

/** A session with a running turn. */
export async function storedTurn(storage: OpenedStorage, given: Parameters<typeof newSession>[0] = {}) {
  const session = await storedSession(storage, given);
  return { session, turn: await runningTurn(storage, session) };
}

/** Begins a turn in this session, by default at once. */
export async function begin(
  storage: OpenedStorage,
  sessionId: string,
  given: Partial<Admission> = {},
  id = storage.newId(),
) {
  const turn = { id, sessionId, ephemeral: false, startedAt: 1_000, prompt: "work", checkpoint: {} };
  const admission = { maxRunning: 1_000, limits: ANY_QUEUE, ownerToken: undefined, choice: undefined };
  return storage.turns.begin(turn, { ...admission, ...given });
}

export async function filed(storage: OpenedStorage, given: Parameters<typeof newApproval>[0] = {}) {
  const asked = newApproval({ id: storage.newId(), ...given });
  await storage.approvals.file(asked, ANY_PENDING, UNRULED);
  return asked;
}

type Work<T> = (connection: OpenedStorage) => Promise<T>;

/** Starts all work at once, in random order, over every connection; the results are in the order of `work`. */
export async function race<T>(
  { storage, connections }: OpenedForRaces,
  work: Work<T>[],
): Promise<PromiseSettledResult<T>[]> {
  const order = fc.sample(fc.shuffledSubarray([...work.keys()], { minLength: work.length }), 1)[0] ?? [];
  const connectionOf = (index: number) => connections[index % connections.length] ?? storage;
  const started = new Map(order.map((index) => [index, work[index]?.(connectionOf(index))]));
  return Promise.allSettled(work.map(async (_, index) => started.get(index) as Promise<T>));
}

export async function raced<T>(opened: OpenedForRaces, work: Work<T>[]): Promise<T[]> {
  return (await race(opened, work)).map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

export async function repeated(body: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await body(round);
}
