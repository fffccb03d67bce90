import { join } from "node:path";
import { percentile, timed } from "../measure.ts";
import { openParent, scriptedChildren, workingDirIn } from "../server/parent.ts";
import { startBenchServer, temporaryDataDir } from "../server/server-process.ts";

const CALLS = 20;
/** The start, a request and its decision, each call and its result, and the end. */
const EVENTS = 1 + 2 + 2 * CALLS + 1;

export type Children = {
  count: number;
  /** From `chat_async` until the turn is complete, including a request and its decision. */
  aloneMs: number;
  /** The same for all children at once, until the last turn is complete. */
  togetherMs: number;
  /** The same number of starts of the program at once, without Plexus: the machine's own cost. */
  startsMs: number;
  baseBytes: number;
  peakBytes: number;
  events: number;
  expectedEvents: number;
};

/** Runs children that each do one turn with one request; each has a parent that decides. */
export async function childrenAtOnce(count: number, rounds: number): Promise<Children> {
  using directory = temporaryDataDir();
  const settings = scriptedChildren(directory.path);
  const working_dir = workingDirIn(directory.path);
  await using server = await startBenchServer(join(directory.path, "data"), { settings });
  const turns = await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const parent = await openParent(server);
      const { id: session_id } = await parent.call("claudecode_create", {
        name: `child ${number}`,
        working_dir,
      });
      const turn = async () => {
        await parent.call("claudecode_chat_async", { session_id, prompt: `ask ${CALLS}` });
        const { approvals, cursor } = await parent.call("loopback_wait", { session_id, timeout_secs: 110 });
        const [asked] = Array.isArray(approvals) ? approvals : [];
        await parent.call("loopback_respond", { approval_id: asked?.id, approve: true });
        await parent.call("loopback_wait", { session_id, since: cursor, timeout_secs: 110 });
        const { status, total_events } = await parent.call("claudecode_poll", { session_id, limit: 1 });
        if (status !== "complete") throw new Error(`a turn is ${status}`);
        return Number(total_events);
      };
      return { turn, parent };
    }),
  );
  const [first] = turns;
  const alone: number[] = [];
  for (let round = 0; round < rounds; round++) alone.push(await timed(() => first?.turn() ?? Promise.reject()));
  const baseBytes = await server.memory();
  await server.peakMemory();
  let events = 0;
  const togetherMs = await timed(async () => {
    for (const total of await Promise.all(turns.map(({ turn }) => turn()))) events += total;
  });
  const peakBytes = await server.peakMemory();
  const program = settings["PLEXUS_CLAUDE"] ?? "";
  const startsMs = await timed(() =>
    Promise.all(Array.from({ length: count }, () => Bun.spawn([program, "--version"], { stdout: "ignore" }).exited)),
  );
  for (const { parent } of turns) parent[Symbol.dispose]();
  const aloneMs = percentile(alone, 0.5);
  return { count, aloneMs, togetherMs, startsMs, baseBytes, peakBytes, events, expectedEvents: count * EVENTS };
}
