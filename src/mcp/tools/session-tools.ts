import { type ApprovalList, headOf } from "../../app.ts";
import { cutText } from "../../contract/cut.ts";
import { leftRunning } from "../../contract/sessions/left-running.ts";
import { ChatInput, ChatWaitInput, CreateInput, PollInput, SessionRef } from "../../contract/sessions/session.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";
import type { JsonObject } from "../../contract/values.ts";
import { fitApprovals, fitEvents } from "./results.ts";
import { sessionOf } from "./session-reference.ts";
import { type RunnableTool, tool } from "./tool.ts";

const DEFAULT_POLL_LIMIT = 100;
const DEFAULT_WAIT_SECS = 45;
const MAX_SESSIONS = 100;
/** Half of a result, since every character of it may be escaped. */
const MAX_CHAT_TEXT_CHARS = 10_000;
const MAX_PENDING_CHARS = 15_000;
const MAX_ERROR_CHARS = 1_000;
/** Of events and approvals together. */
const MAX_POLL_CHARS = 38_000;

/** The tools of those who start and drive children. */
export const SESSION_TOOLS: RunnableTool[] = [
  tool({
    name: "claudecode_create",
    title: "Create a session",
    description:
      "Makes a session: a named Claude Code child that you give work turn by turn. Nothing runs yet: start a turn with " +
      "claudecode_chat_async or claudecode_chat. What the child asks permission for, you decide with loopback_respond.",
    input: CreateInput,
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    async run({ app, principal }, asked) {
      const session = await app.sessionCommands.create(principal, asked);
      const next = "Give it work with claudecode_chat_async.";
      return { type: "created", id: session.id, name: session.name, head: headOf(session), next };
    },
  }),
  tool({
    name: "claudecode_chat_async",
    title: "Start a turn",
    description:
      "Gives the session's child a prompt and returns at once: started, or queued where as many children run as may. " +
      "A queued turn starts by itself. Then call loopback_wait or claudecode_poll.",
    input: ChatInput,
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    async run({ app, principal }, { prompt, ephemeral, ...reference }) {
      const session = await sessionOf(app, principal, reference);
      const turn = await app.turns.start(session, prompt, ephemeral ?? false);
      const place = turn.status === "queued" ? await app.turns.place(turn.id) : undefined;
      return {
        type: place === undefined ? "started" : "queued",
        session_id: session.id,
        ...(place !== undefined && { place }),
        next: "Call loopback_wait for its asks, claudecode_poll for its events.",
      };
    },
  }),
  tool({
    name: "claudecode_chat",
    title: "Run a turn and wait for it",
    description:
      "Gives the session's child a prompt and waits for the end of its turn; returns earlier when a decision is needed " +
      "(status awaiting_permission) or when wait_secs are over (running, or queued). Then go on with loopback_respond and claudecode_poll.",
    input: ChatWaitInput,
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    untrusted: ["text", "error", "pending_approvals"],
    async run({ app, principal, signal, progress }, { prompt, ephemeral, wait_secs, ...reference }) {
      const session = await sessionOf(app, principal, reference);
      const waitMs = (wait_secs ?? DEFAULT_WAIT_SECS) * 1000;
      const onProgress = (events: number) => progress(events, `${session.name}: ${events} events so far`);
      const chat = { waitMs, signal, maxChars: MAX_CHAT_TEXT_CHARS, onProgress };
      const outcome = await app.sessionCommands.chat(session, { prompt, ephemeral }, chat);
      const { status, error, text, pending, usage, place } = outcome;
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
    },
  }),
  tool({
    name: "claudecode_poll",
    title: "Read what a child does",
    description:
      "Reads the events of a session's turn from where you stopped, with its status and its pending approvals. With wait_secs " +
      "it returns as soon as there is something new. Several readers give a consumer name each; from_seq reads again.",
    input: PollInput,
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["events", "pending_approvals"],
    async run({ app, principal, signal }, { from_seq, limit, wait_secs, consumer = "", ...reference }) {
      const session = await sessionOf(app, principal, reference);
      const poll = await app.polls.poll(session, {
        consumer,
        fromSeq: from_seq,
        limit: limit ?? DEFAULT_POLL_LIMIT,
        waitMs: (wait_secs ?? 0) * 1000,
        signal,
      });
      const pending = pendingIn(poll.pending);
      const events = fitEvents(poll.events, MAX_POLL_CHARS - JSON.stringify(pending).length);
      const end = (events.at(-1)?.seq ?? (from_seq ?? poll.position) - 1) + 1;
      if (from_seq === undefined) await app.polls.advance(poll, consumer, end);
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
    },
  }),
  tool({
    name: "claudecode_list",
    title: "List your sessions",
    description: "Lists your sessions, newest first, with their status.",
    input: SessionRef.omit({ name: true, session_id: true }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["sessions"],
    async run({ app, principal }) {
      const { sessions, cursor } = await app.sessionViews.list(principal, { limit: MAX_SESSIONS });
      const shown = sessions.map(({ id, name, status, working_dir, created_at }) => {
        return { id, name, status, working_dir, created_at };
      });
      return { type: "ok", sessions: shown, has_more: cursor !== null };
    },
  }),
  tool({
    name: "claudecode_cancel",
    title: "Cancel the turn",
    description:
      "Ends the turn that runs or is queued in a session, and every process of its child, before it answers; " +
      "left_running names those that could not be ended.",
    input: SessionRef,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    untrusted: ["left_running"],
    async run({ app, principal }, reference) {
      const session = await sessionOf(app, principal, reference);
      const left = await app.turns.cancel(session);
      return { type: left ? "cancelled" : "not_running", session_id: session.id, ...leftRunning(left ?? []) };
    },
  }),
  tool({
    name: "claudecode_delete",
    title: "Delete a session",
    description:
      "Cancels what runs in a session and forgets it; what was decided in it stays on record. " +
      "left_running names processes of its child that could not be ended.",
    input: SessionRef,
    annotations: { readOnlyHint: false, destructiveHint: true },
    untrusted: ["left_running"],
    async run({ app, principal }, reference) {
      const session = await sessionOf(app, principal, reference);
      const left = await app.sessionCommands.remove(session);
      return { type: "deleted", id: session.id, ...leftRunning(left) };
    },
  }),
];

/** As many as fit; `loopback_pending` has the others. */
function pendingIn(list: ApprovalList): JsonObject {
  const { approvals, has_more } = fitApprovals(list, MAX_PENDING_CHARS);
  return { pending_approvals: approvals, ...(has_more && { more_pending: true }) };
}

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
