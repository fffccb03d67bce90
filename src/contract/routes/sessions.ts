import { z } from "zod";
import {
  ConversationContext,
  ConversationTree,
  opened,
  SessionCreated,
  SessionDeleted,
  SessionForked,
  TurnCancelled,
  Warnings,
} from "../sessions/answers.ts";
import { ChatStanding, Queued, Started } from "../sessions/chat-answers.ts";
import { RunBody, SettingsUpdate } from "../sessions/run-input.ts";
import { ChatWaitInput, CreateInput, ForkInput } from "../sessions/session.ts";
import { SessionDetail, SessionSummary } from "../sessions/session-view.ts";
import { SessionStatus } from "../sessions/turn.ts";
import { Id } from "../values.ts";
import { PageQuery, page } from "./declaration/paging.ts";
import { route } from "./declaration/route.ts";

const SessionQuery = PageQuery.extend({ status: SessionStatus.optional() });
/** Without the session's name, which is in the path. */
export const Chat = ChatWaitInput.omit({ name: true, session_id: true });
export const Fork = ForkInput.omit({ name: true });

const ok = z.literal("ok");
const warnings = Warnings.optional();

export const SessionList = z.object({ type: ok, sessions: z.array(SessionSummary), ...page });
export const OneSession = z.object({ type: ok, config: SessionDetail });
export const UpdatedSession = OneSession.extend({ warnings });
export const TurnStarted = z.union([
  Started.extend({ turn_id: Id, ...opened }),
  Queued.extend({ turn_id: Id, ...opened }),
]);
export const TurnAnswer = ChatStanding.extend({ turn_id: Id, ...opened });

export const listSessions = route("GET", "/api/v1/sessions", { query: SessionQuery, answer: SessionList });
export const createSession = route("POST", "/api/v1/sessions", { body: CreateInput, answers: { 201: SessionCreated } });
/** `key` is a session's id or its name. */
export const getSession = route("GET", "/api/v1/sessions/:key", { answer: OneSession });
export const updateSession = route("PATCH", "/api/v1/sessions/:key", { body: SettingsUpdate, answer: UpdatedSession });
export const deleteSession = route("DELETE", "/api/v1/sessions/:key", { answer: SessionDeleted });
export const chat = route("POST", "/api/v1/sessions/:key/chat", {
  body: Chat,
  answers: { 200: TurnAnswer, 202: TurnStarted },
});
export const run = route("POST", "/api/v1/run", { body: RunBody, answers: { 200: TurnAnswer, 202: TurnStarted } });
export const cancelTurn = route("POST", "/api/v1/sessions/:key/cancel", { answer: TurnCancelled });
export const forkSession = route("POST", "/api/v1/sessions/:key/fork", { body: Fork, answers: { 201: SessionForked } });
export const getTree = route("GET", "/api/v1/sessions/:key/tree", { answer: ConversationTree });
export const getContext = route("GET", "/api/v1/sessions/:key/context", { answer: ConversationContext });
