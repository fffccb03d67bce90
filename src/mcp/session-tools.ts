import { headOf } from "../app.ts";
import { ChatInput, ChatWaitInput, CreateInput, PollInput, type SessionConfig, SessionRef } from "../schema/session.ts";
import { seconds } from "../schema/values.ts";
import { fitApprovals, fitEvents } from "./results.ts";
import { sessionOf } from "./session-reference.ts";
import { type RunnableTool, tool } from "./tool.ts";

const DEFAULT_POLL_LIMIT = 100;
const DEFAULT_WAIT_SECS = 45;
/** Half of a result, since every character of it may be escaped. */
const MAX_CHAT_TEXT_CHARS = 10_000;

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
    async run({ app, principal }, { name, ...asked }) {
      const config: SessionConfig = {
        working_dir: app.workspace.workingDir(asked.working_dir),
        model: asked.model ?? null,
        system_prompt: asked.system_prompt ?? null,
        loopback_enabled: asked.loopback_enabled ?? true,
        loopback_timeout_secs: asked.loopback_timeout_secs ?? app.config.approvalTimeoutSecs,
        supervision: asked.supervision ?? "default",
        allowed_tools: asked.allowed_tools ?? [],
        disallowed_tools: asked.disallowed_tools ?? [],
        add_dirs: asked.add_dirs ?? [],
        mcp_servers: asked.mcp_servers ?? {},
        max_turns: asked.max_turns ?? null,
        metadata: asked.metadata ?? {},
      };
      const session = await app.sessions.createManaged(principal, name, config);
      const next = "Give it work with claudecode_chat_async.";
      return { type: "created", id: session.id, name, head: headOf(session), next };
    },
  }),
  tool({
    name: "claudecode_chat_async",
    title: "Start a turn",
    description: "Gives the session's child a prompt and returns at once. Then call loopback_wait or claudecode_poll.",
    input: ChatInput,
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    async run({ app, principal }, { prompt, ephemeral, ...reference }) {
      const session = sessionOf(app, principal, reference);
      await app.turns.start(session, prompt, ephemeral ?? false);
      return {
        type: "started",
        session_id: session.id,
        next: "Call loopback_wait for its asks, claudecode_poll for its events.",
      };
    },
  }),
  tool({
    name: "claudecode_chat",
    title: "Run a turn and wait for it",
    description:
      "Gives the session's child a prompt and waits for the end of its turn; returns earlier when a decision is needed " +
      "(status awaiting_permission) or when wait_secs are over (running). Then go on with loopback_respond and claudecode_poll.",
    input: ChatWaitInput,
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    async run({ app, principal, signal }, { prompt, ephemeral, wait_secs, ...reference }) {
      const session = sessionOf(app, principal, reference);
      const turn = await app.turns.start(session, prompt, ephemeral ?? false);
      const waitMs = (wait_secs ?? DEFAULT_WAIT_SECS) * 1000;
      const poll = await app.turnReading.poll(session, {
        consumer: "",
        fromSeq: 0,
        limit: 1,
        waitMs,
        signal,
        isEnough: ({ status }) => status !== "running",
      });
      const { text, usage } = app.turnReading.summary(turn.id, MAX_CHAT_TEXT_CHARS);
      const pending = fitApprovals({ approvals: poll.pending, hasMore: false }, 15_000).approvals;
      return {
        type: "ok",
        session_id: session.id,
        status: poll.status,
        text,
        pending_approvals: pending,
        usage,
        next: nextAfter(poll.status, poll.error),
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
    async run({ app, principal, signal }, { from_seq, limit, wait_secs, consumer = "", ...reference }) {
      const session = sessionOf(app, principal, reference);
      const poll = await app.turnReading.poll(session, {
        consumer,
        fromSeq: from_seq,
        limit: limit ?? DEFAULT_POLL_LIMIT,
        waitMs: (wait_secs ?? 0) * 1000,
        signal,
      });
      const { approvals } = fitApprovals({ approvals: poll.pending, hasMore: false }, 15_000);
      const events = fitEvents(poll.events, 20_000);
      const end = (events.at(-1)?.seq ?? (from_seq ?? poll.position) - 1) + 1;
      if (from_seq === undefined) await app.turnReading.advance(session, consumer, end);
      return {
        type: "ok",
        status: poll.status,
        events,
        pending_approvals: approvals,
        read_position: from_seq === undefined ? end : poll.position,
        total_events: poll.total,
        has_more: end < poll.total,
        next: nextAfter(poll.status, poll.error),
      };
    },
  }),
  tool({
    name: "claudecode_list",
    title: "List your sessions",
    description: "Lists your sessions, newest first, with their status.",
    input: SessionRef.omit({ name: true, session_id: true }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ app, principal }) {
      const sessions = app.sessions.list(principal, 101).map((session) => ({
        id: session.id,
        name: session.name,
        status: app.turnReading.statusOfSession(session.id),
        working_dir: session.config?.working_dir ?? null,
        created_at: seconds(session.createdAt),
      }));
      return { type: "ok", sessions: sessions.slice(0, 100), has_more: sessions.length > 100 };
    },
  }),
  tool({
    name: "claudecode_cancel",
    title: "Cancel the turn",
    description: "Ends the turn that runs in a session, and every process of its child, before it answers.",
    input: SessionRef,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    async run({ app, principal }, reference) {
      const session = sessionOf(app, principal, reference);
      const cancelled = await app.turns.cancel(session);
      return { type: cancelled ? "cancelled" : "not_running", session_id: session.id };
    },
  }),
  tool({
    name: "claudecode_delete",
    title: "Delete a session",
    description: "Cancels what runs in a session and forgets it; what was decided in it stays on record.",
    input: SessionRef,
    annotations: { readOnlyHint: false, destructiveHint: true },
    async run({ app, principal }, reference) {
      const session = sessionOf(app, principal, reference);
      await app.turns.cancel(session);
      await app.sessions.remove(session);
      return { type: "deleted", id: session.id };
    },
  }),
];

function nextAfter(status: string, error: string | null): string {
  if (status === "awaiting_permission") return "Decide the pending approvals with loopback_respond, then poll on.";
  if (status === "running") return "It works. Call claudecode_poll with wait_secs, or loopback_wait.";
  if (status === "failed")
    return `The turn failed: ${(error ?? "").slice(0, 500)} Start another with claudecode_chat_async.`;
  return "Nothing runs in this session: give it work with claudecode_chat_async.";
}
