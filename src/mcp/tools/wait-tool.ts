import { z } from "zod";
import type { Session } from "../../app.ts";
import { WaitInput } from "../../contract/approvals/approval.ts";
import { PENDING, SESSION_ID, TURN_ID } from "../../contract/samples.ts";
import { limitIn } from "../../contract/sessions/limit-error.ts";
import { MAX_RESULT_CHARS } from "../../contract/text/cut.ts";
import { type Finished, WaitAnswer } from "../../contract/tools/wait-answers.ts";
import { fitMany, MAX_LISTED } from "./declaration/results.ts";
import { type ToolCall, tool } from "./declaration/tool.ts";
import { sessionOf } from "./session-reference.ts";

const DEFAULT_WAIT_SECS = 45;
const MAX_WAIT_SECS = 110;

/** A wait that has begun: from where it reads, and until when it lasts, as Unix time in milliseconds. */
export const WaitState = WaitInput.omit({ timeout_secs: true }).extend({
  since: z.int().nonnegative(),
  until: z.number(),
});
export type WaitState = z.output<typeof WaitState>;

const NEXT = {
  decide: "Decide with loopback_respond.",
  judge: "Judge the result. Give more work with claudecode_chat.",
  judgeOne: "Judge the result; others still run: call loopback_wait. Give more work with claudecode_chat.",
  both: "Decide with loopback_respond; judge what has ended.",
  idle: "Nothing of yours runs or can ask. Give work with claudecode_run.",
  byHand: "Only a claude that is started by hand may still ask, up to 10 minutes after its setup or its last request.",
  idleSession: "It does not run. Give it work with claudecode_chat.",
  silentByHand:
    "Its claude has not asked for 10 minutes. loopback_configure with its session_id tells how to start it.",
};

/** What to do before a session is given more work that a limit of its own has stopped. */
export const RAISE: Record<NonNullable<ReturnType<typeof limitIn>>, string> = {
  max_budget_usd: "A budget is used up: raise max_budget_usd with claudecode_update first.",
  max_turns: "max_turns was reached: raise it with claudecode_update, or give the next prompt to go on.",
};

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
    "Waits until a child asks for permission or ends its turn; returns what you were not told yet: pending " +
    "approvals, and finished turns with their last message. Nothing else wakes you; no end is lost between two calls. timeout: call it again (silent_secs: how long a child has said nothing). idle: nothing runs or can ask.",
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
        next: NEXT.decide,
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
        next: NEXT.judge,
      },
    },
    {
      input: { timeout_secs: 110 },
      when: "when the time is up",
      answer: { type: "timeout", running: [{ name: "worker", status: "running", silent_secs: 110 }], cursor: 12 },
    },
    { input: {}, when: "when nothing runs", answer: { type: "idle", cursor: 12, next: NEXT.idle } },
  ],
  // It moves the caller's place among what has ended, and nothing else.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  untrusted: ["approvals", "finished"],
}).runs((call, input) => waitAnswer(call, input), {
  state: WaitState,
  resume: (call, state) => resumedWait(call, state),
});

/**
 * What `loopback_wait` answers, for every tool that can wait for what comes next. A tool that waits as a part of its
 * work says in `onBegun` by what state the whole call is taken up again.
 */
export async function waitAnswer(
  call: ToolCall,
  { timeout_secs, ...input }: WaitInput,
  onBegun: (state: WaitState) => void = (state) => call.waits(state),
): Promise<WaitAnswer> {
  const { app, principal, signal, stopping, client } = call;
  const { session_id, since, skip, consumer } = input;
  const session = session_id === undefined ? undefined : await sessionOf(call, { session_id });
  const timeoutMs = (timeout_secs ?? DEFAULT_WAIT_SECS) * 1000;
  const until = Date.now() + timeoutMs;
  const waited = await app.eventFeed.wait(principal, {
    reader: { consumer, client },
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
    // Who skips a request is waited for by whoever has asked it.
    const isByHand = waited.running.length === 0 && !skip?.length;
    return isByHand ? { ...waited, next: NEXT.byHand } : waited;
  }
  if (waited.type === "idle") return { ...waited, next: nextOfIdle(session) };
  const { approvals, finished, running, has_more: hasMore, cursor } = waited;
  const room = MAX_RESULT_CHARS - JSON.stringify([finished, running]).length;
  const next = nextOf({ approvals, finished, running });
  const { has_more, ...shown } = await fitMany(call, { approvals, hasMore }, room);
  return { type: "ok", ...shown, finished, running, ...(has_more && { has_more }), cursor, next };
}

type Told = { approvals: unknown[]; finished: Finished[]; running: unknown[] };

function nextOf({ approvals, finished, running }: Told): string {
  if (finished.length === 0) return NEXT.decide;
  const limits = new Set(finished.flatMap(({ error }) => limitIn(error) ?? []));
  const judge = running.length > 0 ? NEXT.judgeOne : NEXT.judge;
  return [approvals.length > 0 ? NEXT.both : judge, ...[...limits].map((limit) => RAISE[limit])].join(" ");
}

/** What to do where nothing of the caller's runs or can ask, or of this session. */
export function nextOfIdle(session: Session | undefined): string {
  if (!session) return NEXT.idle;
  return session.kind === "by_hand" ? NEXT.silentByHand : NEXT.idleSession;
}

/** The same wait in another process: it reads from the same place, and for what is left of its time. */
export function resumedWait(
  call: ToolCall,
  { until, ...input }: WaitState,
  onBegun: (state: WaitState) => void = (state) => call.waits(state),
): Promise<WaitAnswer> {
  return waitAnswer(call, { ...input, timeout_secs: secsLeft(until) }, (state) => onBegun({ ...state, until }));
}

/** How much of a wait is left, whatever the clock or the caller says. */
export function secsLeft(until: number): number {
  return Math.min(MAX_WAIT_SECS, Math.max(0, (until - Date.now()) / 1000));
}

/** The caller's cursor, for the answer of any tool; `told` are turns whose end that answer tells. */
export function cursorOf({ app, principal, signal, client }: ToolCall, told: string[] = []): Promise<number> {
  return app.eventFeed.cursor(principal, { client }, signal.aborted ? [] : told);
}
