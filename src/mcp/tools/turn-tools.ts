import type { ApprovalList } from "../../app.ts";
import { cutText } from "../../contract/cut.ts";
import { APPROVAL_ID, ASKED_AT, SESSION_ID, TOOL_USE_ID, TURN_ID } from "../../contract/samples.ts";
import { ChatInput, ChatWaitInput, PollInput, SessionRef, StreamsInput } from "../../contract/sessions/session.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";
import { CancelAnswer, ChatAnswer, PollAnswer, StartAnswer, StreamsAnswer } from "../../contract/tools/turn-answers.ts";
import { fitApprovals, fitEvents } from "./results.ts";
import { onlyIn, sessionOf } from "./session-reference.ts";
import { tool } from "./tool.ts";

const DEFAULT_POLL_LIMIT = 100;
const DEFAULT_WAIT_SECS = 45;
const MAX_STREAMS = 100;
/** Half of a result, since every character of it may be escaped. */
const MAX_CHAT_TEXT_CHARS = 10_000;
const MAX_PENDING_CHARS = 15_000;
const MAX_ERROR_CHARS = 1_000;
const MAX_LISTED_ERROR_CHARS = 150;
/** Of events and approvals together. */
const MAX_POLL_CHARS = 38_000;

const STARTED = "Call loopback_wait for its asks, claudecode_poll for its events.";
const IDLE = "Nothing runs in this session: give it work with claudecode_chat_async.";
const NEXT: Record<SessionStatus, string> = {
  awaiting_permission: "Decide the pending approvals with loopback_respond, then poll on.",
  queued:
    "It waits for another child to end, then starts by itself. Call claudecode_poll with wait_secs, or loopback_wait.",
  running: "It works. Call claudecode_poll with wait_secs, or loopback_wait.",
  failed: "The turn failed: its last event says why. Start another with claudecode_chat_async.",
  idle: IDLE,
  complete: IDLE,
  cancelled: IDLE,
};

/** How a child is given work, followed and stopped. */
export const TURN_TOOLS = [
  tool({
    name: "claudecode_chat_async",
    title: "Start a turn",
    description:
      "Gives the session's child a prompt and returns at once: started, or queued where as many children run as may. " +
      "A queued turn starts by itself. Then call loopback_wait or claudecode_poll.",
    input: ChatInput,
    answer: StartAnswer,
    examples: [
      {
        input: { name: "worker", prompt: "Make hello.txt" },
        answer: { type: "started", session_id: SESSION_ID, next: STARTED },
      },
      {
        input: { name: "worker", prompt: "Make hello.txt" },
        when: "while `--max-running` children run",
        answer: { type: "queued", session_id: SESSION_ID, place: 3, next: STARTED },
      },
    ],
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  }).runs(async (call, { prompt, ephemeral, ...reference }) => {
    const session = await sessionOf(call, reference);
    const { turn_id, ...begun } = await call.app.sessionCommands.start(session, { prompt, ephemeral });
    return { ...begun, next: STARTED };
  }),
  tool({
    name: "claudecode_chat",
    title: "Run a turn and wait for it",
    description:
      "Gives the session's child a prompt and waits for the end of its turn; returns earlier when a decision is needed " +
      "(status awaiting_permission) or when wait_secs are over (running, or queued). Then go on with loopback_respond and claudecode_poll.",
    input: ChatWaitInput,
    answer: ChatAnswer,
    examples: [
      {
        input: { name: "worker", prompt: "How many files are here?" },
        answer: {
          type: "ok",
          session_id: SESSION_ID,
          status: "complete",
          text: "There are three files in the directory.",
          error: null,
          pending_approvals: [],
          usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.00014, num_turns: 1 },
          next: NEXT.complete,
        },
      },
    ],
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    untrusted: ["text", "error", "pending_approvals"],
  }).runs(async (call, { prompt, ephemeral, wait_secs, ...reference }) => {
    const session = await sessionOf(call, reference);
    const { status, error, text, pending, usage, place } = await call.app.sessionCommands.chat(
      session,
      { prompt, ephemeral },
      {
        waitMs: (wait_secs ?? DEFAULT_WAIT_SECS) * 1000,
        signal: call.signal,
        maxChars: MAX_CHAT_TEXT_CHARS,
        onProgress: (events) => call.progress(events, `${session.name}: ${events} events so far`),
      },
    );
    return {
      type: "ok",
      session_id: session.id,
      status,
      ...(place !== undefined && { place }),
      text,
      error: error && cutText(error, MAX_ERROR_CHARS),
      ...pendingIn(pending),
      usage,
      next: NEXT[status],
    };
  }),
  tool({
    name: "claudecode_poll",
    title: "Read what a child does",
    description:
      "Reads the events of a session's turn from where you stopped, with its status and its pending approvals. With wait_secs " +
      "it returns as soon as there is something new. Several readers give a consumer name each; from_seq reads again.",
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
          next: NEXT.running,
        },
      },
    ],
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["events", "pending_approvals"],
  }).runs(async (call, { from_seq, limit, wait_secs, consumer = "", ...reference }) => {
    const { polls } = call.app;
    const session = await sessionOf(call, reference);
    const poll = await polls.poll(session, {
      consumer,
      fromSeq: from_seq,
      limit: limit ?? DEFAULT_POLL_LIMIT,
      waitMs: (wait_secs ?? 0) * 1000,
      signal: call.signal,
    });
    const pending = pendingIn(poll.pending);
    const events = fitEvents(poll.events, MAX_POLL_CHARS - JSON.stringify(pending).length);
    const end = (events.at(-1)?.seq ?? (from_seq ?? poll.position) - 1) + 1;
    if (from_seq === undefined) await polls.advance(poll, consumer, end);
    return {
      type: "ok",
      status: poll.status,
      events,
      ...pending,
      read_position: from_seq === undefined ? end : poll.position,
      total_events: poll.total,
      has_more: end < poll.total,
      next: NEXT[poll.status],
    };
  }),
  tool({
    name: "claudecode_streams",
    title: "List turns",
    description: "Lists the turns of your sessions, newest first: how each stands, and how far you have read it.",
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
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["streams"],
  }).runs(async (call, { session_id }) => {
    const { principal, app } = call;
    const rows = await app.polls.list(principal, await onlyIn(call, session_id), MAX_STREAMS);
    const streams = rows.map(async (row) => {
      const { usage, ephemeral, unasked, ...turn } = await app.sessionViews.turn(row);
      const read_position = await app.polls.position(row.id, "");
      const error = turn.error?.slice(0, MAX_LISTED_ERROR_CHARS) ?? null;
      return { ...turn, read_position, error, ...(unasked > 0 && { unasked }) };
    });
    return { type: "ok", streams: await Promise.all(streams) };
  }),
  tool({
    name: "claudecode_cancel",
    title: "Cancel the turn",
    description:
      "Ends the turn that runs or is queued in a session, and every process of its child, before it answers; " +
      "left_running names those that could not be ended.",
    input: SessionRef,
    answer: CancelAnswer,
    examples: [{ input: { name: "worker" }, answer: { type: "cancelled", session_id: SESSION_ID } }],
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    untrusted: ["left_running"],
  }).runs(async (call, reference) => call.app.sessionCommands.cancel(await sessionOf(call, reference))),
];

/** As many as fit; `loopback_pending` has the others. */
function pendingIn(list: ApprovalList) {
  const { approvals, has_more } = fitApprovals(list, MAX_PENDING_CHARS);
  return { pending_approvals: approvals, ...(has_more && { more_pending: true as const }) };
}
