import { PageQuery } from "../routes/paging.ts";
import { StreamQuery } from "../routes/session-events.ts";
import { SessionQuery } from "../routes/sessions.ts";
import { EventsQuery } from "../routes/turns.ts";
import type { Operation } from "./operation.ts";

/** The routes of sessions and their turns. */
export const SESSION_OPERATIONS: Operation[] = [
  {
    method: "get",
    path: "/api/v1/sessions",
    id: "listSessions",
    tag: "Sessions",
    summary: "Lists sessions, newest first",
    query: SessionQuery,
    answers: { 200: { says: "A page of them.", json: "SessionList" } },
  },
  {
    method: "post",
    path: "/api/v1/sessions",
    id: "createSession",
    tag: "Sessions",
    summary: "Makes a session",
    details: "No child runs until the session is given work.",
    body: "NewSession",
    answers: { 201: { says: "It is made.", json: "SessionCreated" } },
    errors: ["name_taken", "limit_reached"],
  },
  {
    method: "get",
    path: "/api/v1/sessions/:key",
    id: "getSession",
    tag: "Sessions",
    summary: "One session, with its settings",
    answers: { 200: { says: "The session.", json: "OneSession" } },
  },
  {
    method: "delete",
    path: "/api/v1/sessions/:key",
    id: "deleteSession",
    tag: "Sessions",
    summary: "Cancels what runs in a session, and forgets it",
    answers: { 200: { says: "It is gone, and every process of its child but those named.", json: "SessionDeleted" } },
  },
  {
    method: "post",
    path: "/api/v1/sessions/:key/chat",
    id: "chat",
    tag: "Sessions",
    summary: "Gives a session work",
    details:
      "Without `wait_secs` it answers at once. With it, at the turn's end, or when a decision is needed. " +
      "While `--max-running` children run, the turn is queued, and starts by itself when its `place` in the queue comes.",
    body: "Chat",
    answers: {
      200: { says: "How the turn stands, after `wait_secs` at the latest.", json: "TurnAnswer" },
      202: { says: "The turn runs, or is queued.", json: "TurnStarted" },
    },
    errors: ["turn_running", "limit_reached", "claude_unavailable", "unreachable"],
  },
  {
    method: "post",
    path: "/api/v1/sessions/:key/cancel",
    id: "cancelTurn",
    tag: "Sessions",
    summary: "Ends the turn that runs or is queued",
    answers: {
      200: {
        says: "Every process of the child is gone but those named; or there was no turn to end.",
        json: "Cancelled",
      },
    },
  },
  {
    method: "post",
    path: "/api/v1/sessions/:key/fork",
    id: "forkSession",
    tag: "Sessions",
    summary: "Makes a session with the whole conversation so far",
    body: "Fork",
    answers: { 201: { says: "It is made.", json: "SessionForked" } },
    errors: ["name_taken", "turn_running", "limit_reached"],
  },
  {
    method: "get",
    path: "/api/v1/sessions/:key/tree",
    id: "getTree",
    tag: "Sessions",
    summary: "The conversation with all its forks, one node for each block",
    answers: { 200: { says: "The tree.", json: "Tree" } },
  },
  {
    method: "get",
    path: "/api/v1/sessions/:key/context",
    id: "getContext",
    tag: "Sessions",
    summary: "What the model has before it, from the root to the head",
    answers: { 200: { says: "The messages; the newest, where not all fit.", json: "Context" } },
  },
  {
    method: "get",
    path: "/api/v1/sessions/:key/turns",
    id: "listTurns",
    tag: "Sessions",
    summary: "The turns of a session, newest first",
    query: PageQuery,
    answers: { 200: { says: "A page of them.", json: "TurnList" } },
  },
  {
    method: "get",
    path: "/api/v1/sessions/:key/events",
    id: "followSession",
    tag: "Events",
    summary: "What one session does, turn after turn",
    details: "`Last-Event-ID` (or `last_event_id`) goes on right behind it, without a gap.",
    query: StreamQuery,
    answers: { 200: { says: "Server-sent events.", events: "SessionEvent" } },
  },
  {
    method: "get",
    path: "/api/v1/turns/:turn_id",
    id: "getTurn",
    tag: "Turns",
    summary: "One turn",
    answers: { 200: { says: "The turn.", json: "OneTurn" } },
  },
  {
    method: "get",
    path: "/api/v1/turns/:turn_id/events",
    id: "listTurnEvents",
    tag: "Turns",
    summary: "The events of a turn, whole, in order",
    query: EventsQuery,
    answers: { 200: { says: "A page of them.", json: "TurnEvents" } },
  },
];
