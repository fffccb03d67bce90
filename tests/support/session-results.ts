import { z } from "zod";
import { Approval } from "../../src/contract/approvals/approval.ts";
import { LeftRunning } from "../../src/contract/sessions/left-running.ts";
import { SessionConfig } from "../../src/contract/sessions/session.ts";
import { SessionStatus, TurnEvent, TurnStatus, Usage } from "../../src/contract/sessions/turn.ts";
import { JsonObject, UnixSeconds } from "../../src/contract/values.ts";

const Uuid = z.uuid();
const Head = z.strictObject({ tree_id: Uuid, node_id: Uuid });
const left_running = z.array(LeftRunning).optional();
const next = z.string().min(1);
/** Which fields hold the text of others. */
const untrusted = (...fields: string[]) => z.array(z.enum(fields)).length(fields.length);
const Role = z.enum(["user", "assistant"]);

const ListedSession = z.strictObject({
  id: Uuid,
  name: z.string(),
  status: SessionStatus,
  working_dir: z.string().nullable(),
  created_at: UnixSeconds,
});

const Session = SessionConfig.extend({
  id: Uuid,
  name: z.string(),
  kind: z.literal("managed"),
  status: SessionStatus,
  head: Head,
  claude_session_id: Uuid.nullable(),
  total_cost_usd: z.number().nonnegative(),
  created_at: UnixSeconds,
});

const Stream = z.strictObject({
  session_id: Uuid,
  turn_id: Uuid,
  status: TurnStatus,
  event_count: z.int().nonnegative(),
  read_position: z.int().nonnegative(),
  started_at: UnixSeconds,
  ended_at: UnixSeconds.nullable(),
  error: z.string().nullable(),
});

const Node = z.strictObject({
  id: Uuid,
  parent_id: Uuid.nullable(),
  role: z.enum(["root", ...Role.options]),
  content: JsonObject,
});

/** What each tool answers, key by key, where it does not refuse; written down here so that no change goes unseen. */
export const SESSION_RESULTS = {
  claudecode_create: z.strictObject({ type: z.literal("created"), id: Uuid, name: z.string(), head: Head, next }),
  claudecode_chat_async: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("started"), session_id: Uuid, next }),
    z.strictObject({ type: z.literal("queued"), session_id: Uuid, place: z.int().positive(), next }),
  ]),
  claudecode_chat: z.strictObject({
    type: z.literal("ok"),
    session_id: Uuid,
    status: SessionStatus,
    place: z.int().positive().optional(),
    text: z.string(),
    error: z.string().nullable(),
    pending_approvals: z.array(Approval),
    more_pending: z.literal(true).optional(),
    usage: Usage.nullable(),
    untrusted: untrusted("text", "error", "pending_approvals"),
    next,
  }),
  claudecode_poll: z.strictObject({
    type: z.literal("ok"),
    status: SessionStatus,
    events: z.array(z.strictObject({ seq: z.int().nonnegative(), event: TurnEvent })),
    pending_approvals: z.array(Approval),
    more_pending: z.literal(true).optional(),
    read_position: z.int().nonnegative(),
    total_events: z.int().nonnegative(),
    has_more: z.boolean(),
    untrusted: untrusted("events", "pending_approvals"),
    next,
  }),
  claudecode_streams: z.strictObject({
    type: z.literal("ok"),
    streams: z.array(Stream),
    untrusted: untrusted("streams"),
  }),
  claudecode_list: z.strictObject({
    type: z.literal("ok"),
    sessions: z.array(ListedSession),
    has_more: z.boolean(),
    untrusted: untrusted("sessions"),
  }),
  claudecode_get: z.strictObject({ type: z.literal("ok"), config: Session, untrusted: untrusted("config") }),
  claudecode_cancel: z.strictObject({
    type: z.enum(["cancelled", "not_running"]),
    session_id: Uuid,
    left_running,
    untrusted: untrusted("left_running").optional(),
  }),
  claudecode_delete: z.strictObject({
    type: z.literal("deleted"),
    id: Uuid,
    left_running,
    untrusted: untrusted("left_running").optional(),
  }),
  claudecode_fork: z.strictObject({ type: z.literal("forked"), id: Uuid, head: Head, next }),
  claudecode_get_tree: z.strictObject({
    type: z.literal("ok"),
    tree_id: Uuid,
    head: Head,
    nodes: z.array(Node),
    has_more: z.boolean(),
    untrusted: untrusted("nodes"),
  }),
  claudecode_render_context: z.strictObject({
    type: z.literal("ok"),
    messages: z.array(z.strictObject({ role: Role, content: JsonObject })),
    has_more: z.boolean(),
    untrusted: untrusted("messages"),
  }),
};

export type SessionTool = keyof typeof SESSION_RESULTS;
export type SessionResult<T extends SessionTool> = z.infer<(typeof SESSION_RESULTS)[T]>;
export type NumberedEvent = SessionResult<"claudecode_poll">["events"][number];
export type EventOf<T extends TurnEvent["type"]> = Extract<TurnEvent, { type: T }>;
