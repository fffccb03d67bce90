import { z } from "zod";
import { Approval } from "../approvals/approval.ts";
import { LeftRunning } from "../sessions/left-running.ts";
import { ChatWaitInput, CreateInput, ForkInput } from "../sessions/session.ts";
import { SessionDetail, SessionSummary } from "../sessions/session-view.ts";
import { SessionStatus, Usage } from "../sessions/turn.ts";
import { Id, JsonObject } from "../values.ts";
import { PageQuery, page } from "./paging.ts";
import { route } from "./route.ts";

const SessionQuery = PageQuery.extend({ status: SessionStatus.optional() });
/** The path names the session. */
export const Chat = ChatWaitInput.omit({ name: true, session_id: true });
export const Fork = ForkInput.omit({ name: true });

const ok = z.literal("ok");
const { head } = SessionDetail.shape;
/** Processes of the child that could not be ended; only where there are any. */
const left_running = z.array(LeftRunning).optional();
/** In the queue: 1 is next. */
const place = z.int().positive();
const Block = z.strictObject({ role: z.enum(["root", "user", "assistant"]), content: JsonObject });

export const SessionList = z.object({ type: ok, sessions: z.array(SessionSummary), ...page });
export const OneSession = z.object({ type: ok, config: SessionDetail });
export const SessionCreated = z.object({ type: z.literal("created"), id: Id, name: z.string(), head });
export const SessionDeleted = z.object({ type: z.literal("deleted"), id: Id, left_running });
export const SessionForked = z.object({ type: z.literal("forked"), id: Id, head });
export const TurnStarted = z.union([
  z.object({ type: z.literal("started"), session_id: Id, turn_id: Id }),
  z.object({ type: z.literal("queued"), session_id: Id, turn_id: Id, place }),
]);
export const TurnAnswer = z.object({
  type: ok,
  session_id: Id,
  turn_id: Id,
  /** `idle` where the session was deleted meanwhile. */
  status: SessionStatus,
  place: place.optional(),
  text: z.string(),
  error: z.string().nullable(),
  pending_approvals: z.array(Approval),
  usage: Usage.nullable(),
});
export const Cancelled = z.object({ type: z.enum(["cancelled", "not_running"]), session_id: Id, left_running });
export const Tree = z.object({
  type: ok,
  tree_id: Id.nullable(),
  head,
  nodes: z.array(Block.extend({ id: Id, parent_id: Id.nullable() })),
  has_more: z.boolean(),
});
export const Context = z.object({ type: ok, messages: z.array(Block), has_more: z.boolean() });

export const listSessions = route("GET", "/api/v1/sessions", { query: SessionQuery, answer: SessionList });
export const createSession = route("POST", "/api/v1/sessions", { body: CreateInput, answers: { 201: SessionCreated } });
/** `key` is a session's id or its name. */
export const getSession = route("GET", "/api/v1/sessions/:key", { answer: OneSession });
export const deleteSession = route("DELETE", "/api/v1/sessions/:key", { answer: SessionDeleted });
export const chat = route("POST", "/api/v1/sessions/:key/chat", {
  body: Chat,
  answers: { 200: TurnAnswer, 202: TurnStarted },
});
export const cancelTurn = route("POST", "/api/v1/sessions/:key/cancel", { answer: Cancelled });
export const forkSession = route("POST", "/api/v1/sessions/:key/fork", { body: Fork, answers: { 201: SessionForked } });
export const getTree = route("GET", "/api/v1/sessions/:key/tree", { answer: Tree });
export const getContext = route("GET", "/api/v1/sessions/:key/context", { answer: Context });
