import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Latency, latency, timed } from "./measure.ts";
import { openParent, type Parent, scriptedChildren, workingDirIn } from "./server/parent.ts";
import { startBenchServer, temporaryDataDir } from "./server/server-process.ts";

const WARM_UP = 100;
const BATCH = 100;

/** The two ways to poll a session: at the end, with nothing new, and again from the middle. */
type Reading = { atEnd: Latency; inMiddle: Latency };
export type Polling = { few: Reading; manyEvents: Reading; manyTurns: Reading };

/** Measures `claudecode_poll` on short and long sessions in turn, so that other load affects all alike. */
export async function polling(many: { events: number; turns: number }, rounds: number): Promise<Polling> {
  using directory = temporaryDataDir();
  const dataDir = join(directory.path, "data");
  const working_dir = workingDirIn(directory.path);
  await using server = await startBenchServer(dataDir, { settings: scriptedChildren(directory.path) });
  using parent = await openParent(server);
  const create = async (name: string, events: number) => {
    const { id } = await parent.call("claudecode_create", { name, working_dir });
    // A call and its result are two events, and so are the start and the end of a turn.
    await parent.call("claudecode_chat_async", { session_id: id, prompt: `calls ${events / 2 - 1}` });
    await parent.call("loopback_wait", { session_id: id, since: 0, timeout_secs: 110 });
    return { session: String(id), events };
  };
  const few = await create("few events", 10);
  const manyEvents = await create("many events", many.events);
  const manyTurns = await create("many turns", 10);
  storeEarlierTurns(join(dataDir, "plexus.db"), manyTurns.session, many.turns);
  const samples = [few, manyEvents, manyTurns].map((of) => ({ of, atEnd: [] as number[], inMiddle: [] as number[] }));
  for (const { of } of samples) await readToEnd(parent, of);
  for (let round = 0; round < rounds + WARM_UP; round += BATCH) {
    for (const { of, atEnd, inMiddle } of samples) {
      for (let number = 0; number < BATCH; number++) {
        const end = await timed(() => parent.call("claudecode_poll", { session_id: of.session, limit: 2 }));
        const middle = { session_id: of.session, from_seq: of.events / 2, limit: 2 };
        const again = await timed(() => parent.call("claudecode_poll", middle));
        if (round < WARM_UP) continue;
        atEnd.push(end);
        inMiddle.push(again);
      }
    }
  }
  const [first, second, third] = samples.map(({ atEnd, inMiddle }) => ({
    atEnd: latency(atEnd),
    inMiddle: latency(inMiddle),
  }));
  if (!first || !second || !third) throw new Error("nothing was measured");
  return { few: first, manyEvents: second, manyTurns: third };
}

async function readToEnd(parent: Parent, { session, events }: { session: string; events: number }): Promise<void> {
  for (;;) {
    const poll = await parent.call("claudecode_poll", { session_id: session, limit: 1_000 });
    if (poll["total_events"] !== events) throw new Error(`${poll["total_events"]} events instead of ${events}`);
    if (poll["has_more"] === false) return;
  }
}

/** Stores turns that ended before the existing one, as copies of it with other ids. */
function storeEarlierTurns(path: string, session: string, count: number): void {
  using db = new Database(path);
  db.run("PRAGMA busy_timeout = 5000");
  const turn = db.query<Record<string, string | number | null>, [string]>("SELECT * FROM turns WHERE session_id = ?");
  const row = turn.get(session) ?? {};
  const names = Object.keys(row);
  const insert = db.query(`INSERT INTO turns (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`);
  db.transaction(() => {
    for (let number = 0; number < count; number++) {
      const id = `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
      insert.run(...Object.values({ ...row, id }));
    }
  })();
}
