import { z } from "zod";
import type { Session } from "../../app.ts";
import { APPROVAL_ID, ASKED_AT, SESSION_ID, TOOL_USE_ID, TURN_ID } from "../../contract/samples.ts";
import { PollInput, SessionRef, StreamsInput } from "../../contract/sessions/session.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";
import { cutText } from "../../contract/text/cut-text.ts";
import { CancelAnswer, PollAnswer, StreamsAnswer } from "../../contract/tools/turn-answers.ts";
import { Id } from "../../contract/values.ts";
import { afterEnd, toDecide } from "./advice.ts";
import { MAX_ERROR_CHARS, MAX_TEXT_CHARS } from "./chat-tools.ts";
import { fitEvents } from "./declaration/results.ts";
import { tellingOf } from "./declaration/telling.ts";
import { pendingIn } from "./declaration/told-approvals.ts";
import { endOfWait, type ToolCall, tool } from "./declaration/tool.ts";
import { onlyIn, sessionOf } from "./session-reference.ts";
import { secsLeft } from "./wait-tool.ts";

const DEFAULT_POLL_LIMIT = 100;
/** A summary needs many events, because most of them do not appear in it. */
const SUMMARY_LIMIT = 1_000;
const MAX_STREAMS = 100;
const MAX_LISTED_ERROR_CHARS = 150;
/** The limit for events or calls and approvals together. */
const MAX_POLL_CHARS = 38_000;
/** Room for the text and the error beside calls; every character may need escaping. */
const SUMMARY_TEXT_CHARS = 7_000;

const Begun = z.strictObject({ turn_id: Id, position: z.int().nonnegative() });
type Begun = z.output<typeof Begun>;
/** The state of a poll that waits: until when (Unix time in milliseconds), and the reader's position when it began. */
const PollState = PollInput.omit({ name: true, wait_secs: true }).extend({
  session_id: Id,
  until: z.number(),
  begun: Begun.optional(),
});
type Reading = Omit<z.output<typeof PollState>, "session_id">;
type Standing = { status: SessionStatus; error: string | null };

const NEXT: Partial<Record<SessionStatus, string>> = {
  queued: "It starts by itself. Call loopback_wait, or this with wait_secs.",
  running: "It works. Call loopback_wait, or this with wait_secs.",
  idle: "It has had no turn: give it work with claudecode_chat.",
};
/** What to do when there is more to read, by the kind of reading. */
const MORE = {
  position: "There is more: call this again.",
  events: "There is more: go on with the last seq + 1 as from_seq.",
  summary: "There is more: instead of from_seq, read with a new consumer, again and again.",
};
const BY_HAND = "Its claude is started by hand and has no turns: loopback_wait tells of its requests.";

/** The tools that follow and stop a child. */
export const TURN_TOOLS = [
  tool({
    name: "claudecode_poll",
    title: "Read what a child does",
    description:
      "Reads what a session's newest turn has done since you last read: its events, or with view summary its calls with decision " +
      "and result in a line each, and its last message.",
    input: PollInput,
    answer: PollAnswer,
    examples: [
      {
        input: { name: "worker", wait_secs: 45 },
        answer: {
          type: "ok",
          status: "running",
          events: [
            {
              seq: 3,
              event: {
                type: "approval_resolved",
                approval_id: APPROVAL_ID,
                tool_name: "Bash",
                tool_use_id: TOOL_USE_ID,
                status: "allowed",
                response_message: null,
                resolved_by: "operator",
              },
            },
            {
              seq: 4,
              event: {
                type: "tool_result",
                tool_use_id: TOOL_USE_ID,
                output: "(Bash completed with no output)",
                is_error: false,
                approval_id: APPROVAL_ID,
              },
            },
          ],
          pending_approvals: [],
          read_position: 5,
          total_events: 5,
          has_more: false,
          next: NEXT.running ?? "",
        },
      },
      {
        input: { name: "worker", view: "summary" },
        answer: {
          type: "ok",
          status: "complete",
          calls: [
            {
              seq: 1,
              tool: "Bash",
              input: "touch hello.txt",
              decision: "allowed by operator",
              result: "(Bash completed with no output)",
            },
          ],
          text: "hello.txt is there.",
          error: null,
          pending_approvals: [],
          read_position: 7,
          has_more: false,
          next: afterEnd({ status: "complete", error: null }),
        },
      },
    ],
    // A poll moves the reader's position.
    annotations: { readOnlyHint: false, destructiveHint: false },
    untrusted: ["events", "calls", "text", "error", "pending_approvals"],
  }).runs(
    async (call, { wait_secs = 0, name, session_id, ...reading }) => {
      const session = await sessionOf(call, { name, session_id });
      return pollAnswer(call, session, { ...reading, until: Date.now() + wait_secs * 1000 });
    },
    {
      state: PollState,
      resume: async (call, { session_id, ...reading }) =>
        pollAnswer(call, await sessionOf(call, { session_id }), reading),
    },
  ),
  tool({
    name: "claudecode_streams",
    title: "List turns",
    description: "Lists turns, newest first: how each stands, and how far you have read.",
    input: StreamsInput,
    answer: StreamsAnswer,
    examples: [
      {
        input: { session_id: SESSION_ID },
        answer: {
          type: "ok",
          streams: [
            {
              turn_id: TURN_ID,
              session_id: SESSION_ID,
              status: "complete",
              event_count: 8,
              started_at: ASKED_AT - 1,
              ended_at: ASKED_AT + 1,
              error: null,
              read_position: 8,
            },
          ],
        },
      },
    ],
    annotations: { readOnlyHint: true },
    untrusted: ["streams"],
  }).runs(async (call, { session_id }) => {
    const { principal, app } = call;
    const rows = await app.polls.list(principal, await onlyIn(call, session_id), MAX_STREAMS);
    const streams = rows.map(async (row) => {
      const { usage, ephemeral, unasked, ...turn } = await app.sessionViews.turn(row);
      const read_position = await app.polls.position(row.id, app.polls.consumerOf(principal, row.owner));
      const error = turn.error?.slice(0, MAX_LISTED_ERROR_CHARS) ?? null;
      return { ...turn, read_position, error, ...(unasked > 0 && { unasked }) };
    });
    return { type: "ok", streams: await Promise.all(streams) };
  }),
  tool({
    name: "claudecode_cancel",
    title: "Cancel the turn",
    description: "Ends a session's turn, with every process of its child but those that left_running names.",
    input: SessionRef,
    answer: CancelAnswer,
    examples: [{ input: { name: "worker" }, answer: { type: "cancelled", session_id: SESSION_ID } }],
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    untrusted: ["left_running"],
  }).runs(async (call, reference) => call.app.sessionCommands.cancel(await sessionOf(call, reference))),
];

async function pollAnswer(call: ToolCall, session: Session, reading: Reading): Promise<z.output<typeof PollAnswer>> {
  const { polls } = call.app;
  const { from_seq, limit, until, view, begun } = reading;
  const consumer = polls.consumerOf(call.principal, session.owner, reading.consumer);
  const isSummary = view === "summary";
  const again = begun && (await readAgain(call, session, begun, consumer));
  const poll = await polls.poll(session, {
    consumer,
    fromSeq: from_seq ?? again,
    limit: limit ?? (isSummary ? SUMMARY_LIMIT : DEFAULT_POLL_LIMIT),
    waitMs: secsLeft(until) * 1000,
    signal: endOfWait(call),
    ...(isSummary && { isEnough: polls.hasNewsOfCalls }),
    onBegun: ({ turnId, position }) => {
      const at = turnId === undefined ? undefined : { turn_id: turnId, position };
      call.waits({ ...reading, session_id: session.id, begun: again === undefined ? at : begun });
    },
  });
  // A new turn has begun, so the position in the earlier one does not apply.
  if (again !== undefined && poll.turnId !== begun?.turn_id)
    return pollAnswer(call, session, { ...reading, begun: undefined });
  const pending = await pendingIn(call, poll.pending);
  tellingOf(call).note(pending.pending_approvals);
  const room = MAX_POLL_CHARS - JSON.stringify(pending).length;
  const most = { callChars: room - SUMMARY_TEXT_CHARS, textChars: MAX_TEXT_CHARS };
  const { told, ...shown } = isSummary ? await polls.summary(session, poll, most) : eventsIn(poll.events, room);
  const end = (told.at(-1)?.seq ?? (from_seq ?? again ?? poll.position) - 1) + 1;
  // If the caller no longer listens, it did not get these events.
  if (from_seq === undefined && !call.signal.aborted) await polls.advance(poll, consumer, end);
  const has_more = end < poll.total;
  const more = MORE[from_seq === undefined ? "position" : isSummary ? "summary" : "events"];
  const isAsking = pending.pending_approvals.length > 0;
  const next = isAsking ? toDecide(pending.pending_approvals) : has_more ? more : nextOf(session, poll, isSummary);
  const common = {
    ...pending,
    read_position: from_seq === undefined ? end : poll.position,
    has_more,
    ...(next !== undefined && { next }),
  };
  const { status } = poll;
  if ("events" in shown) return { type: "ok", status, ...shown, ...common, total_events: poll.total };
  return { type: "ok", status, ...shown, error: poll.error && cutText(poll.error, MAX_ERROR_CHARS), ...common };
}

/**
 * The position to read from again, because an answer of a killed process may not have arrived; `undefined` in another
 * turn.
 */
async function readAgain({ app }: ToolCall, session: Session, begun: Begun, consumer: string) {
  const turn = await app.polls.latest(session.id);
  if (turn?.id !== begun.turn_id) return undefined;
  return Math.min(begun.position, await app.polls.position(turn.id, consumer));
}

function eventsIn(events: Parameters<typeof fitEvents>[0], room: number) {
  const told = fitEvents(events, room);
  return { events: told, told };
}

function nextOf({ kind }: Session, poll: Standing, isSummary: boolean): string | undefined {
  if (kind === "by_hand") return BY_HAND;
  return afterEnd(poll, isSummary ? "error" : "its last event") ?? NEXT[poll.status];
}
