import { join } from "node:path";
import { z } from "zod";
import type { Figures } from "./children/sessions.ts";
import type { Row } from "./measure.ts";
import { openParent, type Parent, scriptedChildren, workingDirIn } from "./server/parent.ts";
import { startBenchServer, temporaryDataDir } from "./server/server-process.ts";

const SILENT_SECS = 30 * 60;
const WAIT_SECS = 110;
/** Longer than the part of a last message that an answer contains. */
const SAID_CHARS = 10_000;

/** Measures a parent's loop: the number of calls, and the tokens (characters / 4) of their answers. */
export async function parentLoopFigures(): Promise<Figures> {
  using directory = temporaryDataDir();
  const settings = scriptedChildren(directory.path);
  await using server = await startBenchServer(join(directory.path, "data"), { settings });
  using parent = await openParent(server);
  const working_dir = workingDirIn(directory.path);
  const five = await decideAll(parent, { name: "five", working_dir, prompt: "permits 5" });
  const sixty = await decideAll(parent, { name: "sixty", working_dir, prompt: "permits-at-once 60" });
  for (const name of ["talker", "worker"]) await parent.call("claudecode_create", { name, working_dir });

  await parent.call("claudecode_chat_async", { name: "talker", prompt: `say ${SAID_CHARS}` });
  const end = await parent.call("loopback_wait", { timeout_secs: WAIT_SECS });
  if (!Array.isArray(end["finished"]) || end["finished"].length !== 1) throw new Error("no end was told");

  await parent.call("claudecode_chat_async", { name: "worker", prompt: "silence" });
  const silent = await parent.call("loopback_wait", { timeout_secs: 0 });
  await parent.call("claudecode_cancel", { name: "worker" });
  if (silent["type"] !== "timeout") throw new Error("the child was not silent");
  const calls = Math.ceil(SILENT_SECS / WAIT_SECS);
  const longest = JSON.stringify(silent).replace(/"silent_secs":\d+/, `"silent_secs":${SILENT_SECS}`);

  return {
    title: "(k) A parent's loop, in calls and in tokens of answers (characters / 4)",
    rows: [
      figure("the last message of a child, as it ended", { calls: 1, chars: JSON.stringify(end).length }, [1, 700]),
      figure("one child with five requests, one after the other", five, [7, 800]),
      figure("60 requests, decided in batches", sixty, [8, 4_000]),
      figure("30 minutes in which a child says nothing", { calls, chars: calls * longest.length }, [17, 500]),
    ],
  };
}

const Told = z.object({
  approvals: z.array(z.object({ id: z.string() })).default([]),
  finished: z.array(z.unknown()).default([]),
});

/** Runs a child and allows all its requests, with the calls that the instructions name. */
async function decideAll(parent: Parent, work: object): Promise<{ calls: number; chars: number }> {
  const cost = { calls: 0, chars: 0 };
  const call = async (tool: string, args: object) => {
    const answer = await parent.call(tool, { ...args, wait_secs: WAIT_SECS });
    cost.calls++;
    cost.chars += JSON.stringify(answer).length;
    return answer;
  };
  const { pending_approvals } = await call("claudecode_run", work);
  let told = Told.parse({ approvals: pending_approvals });
  while (told.finished.length === 0) {
    const decisions = told.approvals.map(({ id }) => ({ approval_id: id, approve: true }));
    told = Told.parse(
      (await call("loopback_respond", decisions.length === 1 ? (decisions[0] ?? {}) : { decisions }))["wait"],
    );
  }
  return cost;
}

function figure(
  what: string,
  { calls, chars }: { calls: number; chars: number },
  [most, tokens]: [number, number],
): Row {
  return {
    what,
    measured: `${calls} calls, ${Math.ceil(chars / 4)} tokens`,
    goal: `≤ ${most} calls, ${tokens} tokens`,
    met: calls <= most && chars / 4 <= tokens,
  };
}
