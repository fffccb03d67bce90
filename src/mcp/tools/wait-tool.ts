import { z } from "zod";
import type { Session } from "../../app.ts";
import { WaitInput } from "../../contract/approvals/approval.ts";
import { PENDING, SESSION_ID, TURN_ID } from "../../contract/samples.ts";
import { limitIn } from "../../contract/sessions/limit-error.ts";
import { MAX_RESULT_CHARS } from "../../contract/text/cut.ts";
import { type Finished, WaitAnswer, type Waited, type WaitedFor } from "../../contract/tools/wait-answers.ts";
import { afterEnd, GIVE_MORE, RAISE, STILL_RUNNING, toDecide } from "./advice.ts";
import { MAX_LISTED, MIN_APPROVAL_CHARS } from "./declaration/results.ts";
import { tellingOf } from "./declaration/telling.ts";
import { brief, fitMany } from "./declaration/told-approvals.ts";
import { type ToolCall, tool } from "./declaration/tool.ts";
import { sessionOf } from "./session-reference.ts";

/** Room for `next` and `untrusted`. */
const NEXT_CHARS = 1_500;
const DEFAULT_WAIT_SECS = 45;
const MAX_WAIT_SECS = 110;

/** The state of a wait: the position it reads from, and when it ends, as Unix time in milliseconds. */
export const WaitState = WaitInput.omit({ timeout_secs: true }).extend({
  since: z.int().nonnegative(),
  until: z.number(),
});
export type WaitState = z.output<typeof WaitState>;

const NEXT = {
  more: "There is more to tell: call loopback_wait with this cursor as since.",
  idle: "Nothing of yours runs or can ask. Give work with claudecode_run.",
  byHand: "Only a claude that is started by hand may still ask, up to 10 minutes after its setup or its last request.",
  newSession: "It has had no turn. Give it work with claudecode_chat.",
  idleSession:
    "Its turn is over: claudecode_poll with view summary tells how it ended. Give it more work with claudecode_chat.",
  silentByHand:
    "Its claude has not asked for 10 minutes. loopback_configure with its session_id tells how to start it.",
};
const JUDGE = { all: "Judge the results.", mixed: "Judge each by its status and error." };

const ENDED: Finished = {
  session_id: SESSION_ID,
  name: "worker",
  turn_id: TURN_ID,
  status: "complete",
  text: "hello.txt is there.",
  error: null,
  asks: { allowed: 1, denied: 0, timed_out: 0, abandoned: 0, builtin: 4, unasked: 0 },
  cost_usd: 0.0213,
  num_turns: 3,
};

export const WAIT_TOOL = tool({
  name: "loopback_wait",
  title: "Wait for something to do",
  description:
    "Waits until a child asks for permission or ends its turn. Tells pending approvals at each call until decided or in skip, " +
    "and finished turns once, with their last message (asks counts rules too). Nothing else wakes you. timeout: call it again. idle: nothing runs or can ask.",
  input: WaitInput,
  answer: WaitAnswer,
  examples: [
    {
      input: {},
      answer: {
        type: "ok",
        approvals: [PENDING],
        finished: [],
        running: [{ session_id: SESSION_ID, name: "tester", status: "running", silent_secs: 4 }],
        cursor: 7,
        next: toDecide([PENDING]),
      },
    },
    {
      input: {},
      when: "when a turn has ended",
      answer: {
        type: "ok",
        approvals: [],
        finished: [ENDED],
        running: [],
        cursor: 12,
        next: nextOf({ approvals: [], finished: [ENDED], running: [] }),
      },
    },
    {
      input: { timeout_secs: 110 },
      when: "when the time is up",
      answer: { type: "timeout", running: [{ name: "worker", status: "running", silent_secs: 110 }], cursor: 12 },
    },
    { input: {}, when: "when nothing runs", answer: { type: "idle", cursor: 12, next: NEXT.idle } },
  ],
  // A wait moves only the caller's position among ended turns.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  untrusted: ["approvals", "finished"],
}).runs((call, input) => waitAnswer(call, input), {
  state: WaitState,
  resume: (call, state) => resumedWait(call, state),
});

/** The room for a wait in the answer of a larger call. `rest` is the size of the wait's answer without approvals. */
type Room = (rest: number) => number;
/** Called when a wait begins, with the state from which it resumes. */
type OnBegun = (state: WaitState) => void;
/** Options for a wait that is a part of a larger call. */
export type Part = { onBegun: OnBegun; room: Room };

/** The answer of `loopback_wait`, for every tool that can wait for the next event. */
export async function waitAnswer(
  call: ToolCall,
  { timeout_secs, ...input }: WaitInput,
  { onBegun = (state) => call.waits(state), room }: Partial<Part> = {},
): Promise<WaitAnswer> {
  const { app, principal, signal, stopping, client } = call;
  const { session_id, since, skip, consumer } = input;
  const session = session_id === undefined ? undefined : await sessionOf(call, { session_id });
  const timeoutMs = (timeout_secs ?? DEFAULT_WAIT_SECS) * 1000;
  const until = Date.now() + timeoutMs;
  const waited = await app.eventFeed.wait(principal, {
    reader: { consumer, client },
    beginning: room ? "unread" : "recent",
    sessionId: session?.id,
    since,
    skip,
    timeoutMs,
    limit: MAX_LISTED,
    signal,
    stopping,
    onBegun: (from) => onBegun({ ...input, since: from, until }),
  });
  if (waited.type === "timeout") {
    // With `skip`, the session of a skipped request may be what the caller waits for.
    const isByHand = waited.running.length === 0 && !skip?.length;
    const next = isByHand ? NEXT.byHand : room && STILL_RUNNING;
    return { ...waited, ...(next !== undefined && { next }) };
  }
  if (waited.type === "idle") return { ...waited, next: await nextOfIdle(call, session) };
  return something(call, waited, consumer, room);
}

/** Drops approvals that do not fit. Pending approvals can be listed again, but the end of a turn is told only once. */
async function something(
  call: ToolCall,
  { approvals, finished, running, has_more: hasMore, cursor }: Extract<Waited, { type: "ok" }>,
  consumer: string | undefined,
  roomBeside: Room | undefined,
): Promise<WaitedFor> {
  const telling = tellingOf(call, consumer);
  const around = (shown: typeof running) =>
    JSON.stringify({ type: "ok", approvals: [], finished, running: shown, has_more: true, cursor }).length;
  const room = roomBeside?.(around(running)) ?? MAX_RESULT_CHARS - NEXT_CHARS;
  // Running sessions can be listed again, ended turns can't.
  const shownRunning = around(running) + MIN_APPROVAL_CHARS > room ? [] : running;
  const list = { approvals, hasMore };
  const told = await fitMany({ ...call, known: telling.known }, list, room - around(shownRunning));
  const shown = roomBeside ? told.approvals.map(brief) : told.approvals;
  telling.note(shown);
  const has_more = told.has_more ? { has_more: true as const } : {};
  const next = nextOf({ approvals: shown, finished, running, ...has_more });
  return { type: "ok", approvals: shown, finished, running: shownRunning, ...has_more, cursor, next };
}

type Told = Pick<WaitedFor, "approvals" | "finished" | "running" | "has_more">;

function nextOf({ approvals, finished, running, has_more }: Told): string {
  const limits = new Set(finished.flatMap(({ error }) => limitIn(error) ?? []));
  const raise = [...limits].map((limit) => RAISE[limit]);
  if (approvals.length > 0) {
    const judge = finished.length > 0 ? ["Judge what has ended."] : [];
    return [toDecide(approvals), ...judge, ...raise].join(" ");
  }
  const goOn = has_more ? [NEXT.more] : running.length > 0 ? [STILL_RUNNING] : [];
  const [first, ...others] = finished;
  const advice = first && others.length === 0 ? afterEnd(first) : undefined;
  if (advice) return [advice, ...goOn].join(" ");
  const isGood = finished.every(({ status }) => status === "complete");
  return [isGood ? JUDGE.all : JUDGE.mixed, ...goOn, GIVE_MORE, ...raise].join(" ");
}

/** What to do when nothing of the caller's, or nothing in this session, runs or can ask. */
export async function nextOfIdle({ app }: ToolCall, session: Session | undefined): Promise<string> {
  if (!session) return NEXT.idle;
  if (session.kind === "by_hand") return NEXT.silentByHand;
  return (await app.polls.latest(session.id)) ? NEXT.idleSession : NEXT.newSession;
}

/** Continues a wait in another process, from the same position and for the rest of its time. */
export function resumedWait(
  call: ToolCall,
  { until, ...input }: WaitState,
  { onBegun = (state) => call.waits(state), ...part }: Partial<Part> = {},
): Promise<WaitAnswer> {
  const left = { ...input, timeout_secs: secsLeft(until) };
  return waitAnswer(call, left, { ...part, onBegun: (state) => onBegun({ ...state, until }) });
}

/** The rest of a wait in seconds, within bounds even if the clock or the caller is wrong. */
export function secsLeft(until: number): number {
  return Math.min(MAX_WAIT_SECS, Math.max(0, (until - Date.now()) / 1000));
}

/** The caller's cursor for the answer of any tool. `told` lists the turns whose end this answer reports. */
export function cursorOf(
  { app, principal, signal, client }: ToolCall,
  consumer: string | undefined,
  told: string[] = [],
): Promise<number> {
  return app.eventFeed.cursor(principal, { consumer, client }, signal.aborted ? [] : told);
}
