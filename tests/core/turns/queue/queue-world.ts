import { Database } from "bun:sqlite";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Principal, Session } from "../../../../src/app.ts";
import type { ChangeEvent } from "../../../../src/contract/change.ts";
import { openDirect } from "../../../storage/sqlite/support/direct.ts";
import { RESULT_LINE, writeStandIn } from "../../../support/claude/stand-in.ts";
import { type Plexus, startPlexus } from "../../../support/server/plexus.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";
import { temporaryDataDir } from "../../../support/temporary-data-dir.ts";
import { until } from "../../../support/until.ts";

export const OPERATOR: Principal = { kind: "operator" };
const OVER = ["complete", "failed", "cancelled"];

/** Settings of the session of a turn. */
type Asked = { by?: Principal; servers?: Record<string, unknown>; workingDir?: string };

export type QueueWorld = AsyncDisposable & {
  readonly plexus: Plexus;
  directory: string;
  claude: string;
  session(name: string, asked?: Asked): Promise<Session>;
  /** Files a turn in a new session of this name, whose child runs until `end`; returns the turn's status. */
  start(name: string, asked?: Asked): Promise<string>;
  /** Makes the child of this name exit. */
  end(name: string): void;
  status(name: string): string;
  /** Waits until the child of this name runs. */
  running(name: string): Promise<void>;
  ended(name: string): Promise<void>;
  /** Whether a child was ever started for this name. */
  wasStarted(name: string): boolean;
  place(name: string): Promise<number | undefined>;
  /** Stops the server like SIGTERM, or hands over like SIGUSR2, and starts another on the same data. */
  restart(how: "stop" | "hand over", whileAway?: () => void): Promise<void>;
  /** The server's database, to cause faults and read rows. */
  database(): Database;
};

/** A server whose children only wait until they are told to exit. */
export async function openQueueWorld(maxRunning: number): Promise<QueueWorld> {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryDirectory());
  const { path: dataDir } = stack.use(await temporaryDataDir());
  const script = `read -r name
: >"${directory}/started-$name"
while [ ! -e "${directory}/end-$name" ]; do sleep 0.02; done
echo '${RESULT_LINE}'`;
  const claude = writeStandIn(directory, script);
  const open = () => startPlexus({ dataDir, flags: { claude, maxRunning: String(maxRunning) } });
  let plexus = await open();
  stack.defer(() => plexus[Symbol.asyncDispose]());
  const sessions = new Map<string, Session>();
  const direct = stack.use(openDirect(dataDir));
  const owned = stack.move();
  const sessionOf = (name: string): Session => {
    const session = sessions.get(name);
    if (!session) throw new Error(`there is no ${name}`);
    return session;
  };
  const status = (name: string) => direct.turns.latest(sessionOf(name).id)?.status ?? "idle";
  const wasStarted = (name: string) => existsSync(join(directory, `started-${name}`));
  const session = async (name: string, { by = OPERATOR, servers = {}, workingDir = directory }: Asked = {}) => {
    const asked = { name, working_dir: workingDir, mcp_servers: servers, loopback_enabled: false };
    const made = await plexus.app.sessionCommands.create(by, asked);
    sessions.set(name, made);
    return made;
  };
  return {
    get plexus() {
      return plexus;
    },
    directory,
    claude,
    session,
    start: async (name, asked) => (await plexus.app.turns.start(await session(name, asked), `${name}\n`, false)).status,
    end: (name) => writeFileSync(join(directory, `end-${name}`), ""),
    status,
    wasStarted,
    running: async (name) => void (await until(`${name} to run`, () => status(name) === "running" && wasStarted(name))),
    ended: async (name) => void (await until(`the end of ${name}`, () => OVER.includes(status(name)))),
    place: async (name) => plexus.app.turns.place((await plexus.app.polls.latest(sessionOf(name).id))?.id ?? ""),
    database: () => new Database(join(dataDir, "plexus.db")),
    async restart(how, whileAway = () => {}) {
      if (how === "hand over") await plexus.app.turns.handOver();
      await plexus[Symbol.asyncDispose]();
      whileAway();
      plexus = await open();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The session of this name, whoever made it. */
export async function found({ plexus }: QueueWorld, name: string) {
  const { sessions } = await plexus.app.sessionViews.list(OPERATOR, { limit: 1_000 });
  const session = sessions.find((one) => one.name === name);
  return plexus.app.sessions.require(OPERATOR, session?.id ?? name);
}

/** All changes so far. */
export async function changesOf({ plexus }: QueueWorld): Promise<ChangeEvent[]> {
  const { app } = plexus;
  const leave = new AbortController();
  const told: ChangeEvent[] = [];
  const newest = (await app.eventFeed.wait(OPERATOR, { timeoutMs: 0, limit: 1, signal: leave.signal })).cursor;
  const reading = (async () => {
    for await (const { id, event } of app.eventFeed.follow(OPERATOR, 0, leave.signal)) {
      told.push(event);
      if (id === newest) return;
    }
  })();
  await until("all changes", async () => (await Promise.race([reading.then(() => true), Bun.sleep(1_000)])) === true);
  leave.abort();
  return told;
}
