import { z } from "zod";
import { Approval } from "../../src/contract/approvals/approval.ts";
import { allow, OPERATOR, openCore } from "../../tests/core/open-core.ts";
import { permitMessage, post } from "../../tests/support/mcp/raw-mcp.ts";
import { type Plexus, startPlexus } from "../../tests/support/server/plexus.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { until } from "../../tests/support/until.ts";
import type { Finding } from "./finding.ts";
import { scriptedWorker } from "./scripted-worker.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GONE_AFTER_MS = 300;
const TIMEOUT_SECS = 300;

/** A wall clock that the test sets. */
function settableClock() {
  let offset = 0;
  const now = () => Date.now() + offset;
  const clocks = { now, elapsed: () => performance.now(), rereadEveryMs: 20 };
  return {
    clocks,
    now,
    set(ms: number) {
      offset += ms;
    },
  };
}

export async function clockJumps(): Promise<Finding[]> {
  return [
    ...(await forwardByADay()),
    ...(await backByAnHour()),
    ...(await turnsAfterSettingBack()),
    await goneBeforeSettingBack(),
    await retention(),
  ];
}

async function forwardByADay(): Promise<Finding[]> {
  const clock = settableClock();
  await using plexus = await startPlexus({ clocks: clock.clocks });
  const child = await plexus.child("child");
  const asked = await ask(plexus, child.token, "toolu_1");
  clock.set(DAY_MS);
  const answer = await asked.stream.answer();
  const late = await plexus.app.approvals.decide(OPERATOR, asked.id, allow);
  const next = await ask(plexus, child.token, "toolu_2");
  const { expires_at, created_at } = await plexus.app.approvals.get(OPERATOR, next.id);
  await plexus.app.approvals.decide(OPERATOR, next.id, allow);
  const nextAnswer = await next.stream.answer();
  return [
    {
      promised: "forward by a day: what waits is denied as timed out, and can't be allowed any more",
      happened: `${answer}; a decision after it is ${late.type}`,
      kept: answer.includes("Approval timed out") && late.type === "already_resolved",
    },
    {
      promised: "… and what is asked after it has its whole time",
      happened: `${expires_at - created_at} s, then ${nextAnswer}`,
      kept: expires_at - created_at === TIMEOUT_SECS && nextAnswer.includes('"allow"'),
    },
  ];
}

async function backByAnHour(): Promise<Finding[]> {
  const clock = settableClock();
  await using directory = await temporaryDirectory();
  const ids: string[] = [];
  const findings: Finding[] = [];
  {
    await using plexus = await startPlexus({ clocks: clock.clocks, dataDir: directory.path });
    const child = await plexus.child("child");
    const [kept, overdue] = [await ask(plexus, child.token, "toolu_1"), await ask(plexus, child.token, "toolu_2")];
    clock.set(-HOUR_MS);
    const later = await ask(plexus, child.token, "toolu_4");
    const pending = (await plexus.app.approvals.pending(OPERATOR, undefined, 10)).approvals.map(({ id }) => id);
    findings.push({
      promised: "back by an hour: the oldest ask is still listed first, and the newest last",
      happened: places(pending, [kept.id, overdue.id, later.id]),
      kept: Bun.deepEquals(pending, [kept.id, overdue.id, later.id]),
    });
    const decided = await plexus.app.approvals.decide(OPERATOR, kept.id, allow);
    const answer = await kept.stream.answer();
    clock.set(HOUR_MS + 2 * TIMEOUT_SECS * 1000);
    const expired = await overdue.stream.answer();
    findings.push({
      promised: "… what waits can be decided, and its deadline comes when the clock has got there",
      happened: `${decided.type}, ${answer}; then ${expired}`,
      kept: decided.type === "ok" && answer.includes('"allow"') && expired.includes("Approval timed out"),
    });
    ids.push(later.id);
  }
  clock.set(-2 * HOUR_MS);
  await using plexus = await startPlexus({ clocks: clock.clocks, dataDir: directory.path });
  const after = await ask(plexus, (await plexus.child("another")).token, "toolu_5");
  const listed = await listNewestFirst(plexus);
  findings.push({
    promised: "… and for a server that is started with the clock set back, too",
    happened: places(listed, [after.id, ...ids]),
    kept: listed[0] === after.id,
  });
  return findings;
}

async function turnsAfterSettingBack(): Promise<Finding[]> {
  const clock = settableClock();
  await using directory = await temporaryDirectory();
  const claude = scriptedWorker(directory.path, "exit 0");
  await using plexus = await startPlexus({ clocks: clock.clocks, flags: { claude } });
  const parent = await plexus.connect();
  const session = plexus.app.sessions;
  const { value } = await parent.call("claudecode_create", { name: "worker", working_dir: directory.path });
  const worker = await session.require(OPERATOR, String(value["id"]));
  const run = async (prompt: string) => {
    const turn = await plexus.app.turns.start(await session.require(OPERATOR, worker.id), prompt, false);
    await until(
      "the turn's end",
      async () => (await plexus.app.sessionStream.requireTurn(OPERATOR, turn.id)).status !== "running",
    );
    return turn.id;
  };
  const first = await run("first");
  clock.set(-HOUR_MS);
  const second = await run("second");
  const newest = (await plexus.app.polls.latest(worker.id))?.id;
  const { messages } = (await parent.call("claudecode_render_context", { name: "worker" })).value;
  const said = z.array(z.object({ content: z.object({ text: z.string() }) })).parse(messages);
  const words = said.map(({ content }) => content.text).join(", ");
  return [
    {
      promised: "… the newest turn is the one that was started last",
      happened: newest === second ? "it is" : `it is ${newest === first ? "the one before" : newest}`,
      kept: newest === second,
    },
    { promised: "… a conversation stays in its order", happened: words, kept: words === "first, second" },
  ];
}

async function goneBeforeSettingBack(): Promise<Finding> {
  const clock = settableClock();
  await using directory = await temporaryDirectory();
  using core = await openCore(directory.path, {
    clock,
    elapsed: clock.clocks.elapsed,
    abandonAfterMs: GONE_AFTER_MS,
  });
  const gone = await core.ask(await core.session());
  gone[Symbol.dispose]();
  clock.set(-HOUR_MS);
  const status = async () => (await core.approvals.get(OPERATOR, gone.approvalId)).status;
  await until("the ask to be abandoned", async () => (await status()) === "abandoned", 10_000).catch(() => {});
  return {
    promised: "… an ask whose child has gone is abandoned no later for it",
    happened: `it is ${await status()}`,
    kept: (await status()) === "abandoned",
  };
}

async function retention(): Promise<Finding> {
  const clock = settableClock();
  await using directory = await temporaryDirectory();
  using core = await openCore(directory.path, { clock, retentionDays: 30 });
  const session = await core.session();
  const [decided, pending] = [await core.ask(session), await core.ask(session)];
  await core.approvals.decide(OPERATOR, decided.approvalId, allow);
  const left = async (ms: number) => {
    clock.set(ms);
    await core.retention.sweep();
    const rows = [decided, pending].map(({ approvalId }) => core.storage.approvals.get(approvalId));
    return (await Promise.all(rows)).filter(Boolean).length;
  };
  const counts = [await left(-HOUR_MS), await left(DAY_MS + HOUR_MS), await left(40 * DAY_MS)];
  for (const one of [decided, pending]) one[Symbol.dispose]();
  return {
    promised: "retention forgets nothing early, back by an hour or forward by a day, and never what is pending",
    happened: `of one decided and one pending, ${counts[0]}, ${counts[1]} and, after the retention time, ${counts[2]} are left`,
    kept: Bun.deepEquals(counts, [2, 2, 1]),
  };
}

async function ask(plexus: Plexus, token: string, toolUseId: string) {
  const stream = await post(plexus.url, permitMessage({ command: toolUseId }, { toolUseId }), { token });
  const first = await stream.next();
  return { id: first?.id?.split("~")[0] ?? "", stream };
}

async function listNewestFirst(plexus: Plexus): Promise<string[]> {
  const answer: unknown = await (await plexus.fetch("/api/v1/approvals")).json();
  return z
    .object({ approvals: z.array(Approval) })
    .parse(answer)
    .approvals.map(({ id }) => id);
}

/** Returns the position of each id in the list. */
function places(list: string[], ids: string[]): string {
  return `at ${ids.map((id) => list.indexOf(id) + 1).join(", ")} of ${list.length}`;
}
