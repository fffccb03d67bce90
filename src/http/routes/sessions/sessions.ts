import { type App, headOf, toCreated, toMessage, toNode } from "../../../app.ts";
import {
  createSession,
  deleteSession,
  forkSession,
  getContext,
  getSession,
  getTree,
  listSessions,
  updateSession,
} from "../../../contract/routes/sessions.ts";
import { ASKED_AT, FIRST_HEAD, HEAD, ROOT_ID, SESSION_ID, TREE_ID, TURN_ID } from "../../../contract/samples.ts";
import { leftRunning } from "../../../contract/sessions/left-running.ts";
import type { SessionDetail, SessionSummary } from "../../../contract/sessions/session-view.ts";
import { type Served, serve } from "../../serve.ts";
import { lastPage, onOnePage, pageOf } from "../paging.ts";
import { sessionParams } from "./session-params.ts";

export type SessionsApp = Pick<App, "sessions" | "sessionViews" | "sessionCommands" | "conversations">;

const LISTED: SessionSummary = {
  id: SESSION_ID,
  name: "worker",
  kind: "managed",
  status: "awaiting_permission",
  working_dir: "/srv/project",
  created_at: ASKED_AT - 1,
  owner: "operator",
  cost_usd: 0.14,
  last_activity_at: ASKED_AT,
  claude_session_id: null,
  last_turn: { id: TURN_ID, status: "awaiting_permission", started_at: ASKED_AT - 1, ended_at: null },
  pending: 1,
};
const CREATED = {
  type: "created",
  id: SESSION_ID,
  name: "worker",
  working_dir: "/srv/project",
  head: FIRST_HEAD,
} as const;
const DETAIL: SessionDetail = {
  id: SESSION_ID,
  name: "worker",
  kind: "managed",
  status: "idle",
  head: HEAD,
  claude_session_id: null,
  total_cost_usd: 0,
  created_at: ASKED_AT - 1,
  working_dir: "/srv/project",
  supervision: "default",
};

/** Creates, shows, forks and deletes sessions. */
export function sessionRoutes({ sessions, sessionViews, sessionCommands, conversations }: SessionsApp): Served[] {
  return [
    serve(listSessions, {
      tag: "Sessions",
      summary: "Lists sessions, newest first",
      answer: { says: "A page of them.", example: { type: "ok", sessions: [LISTED], ...lastPage } },
    }).by(async ({ principal, query }) => {
      const found = await sessionViews.list(principal, query);
      return { type: "ok", sessions: found.sessions, ...pageOf(found) };
    }),
    serve(createSession, {
      tag: "Sessions",
      summary: "Makes a session",
      details:
        "No child runs until the session is given work. `warnings` names entries of `allowed_tools` that have no effect, and what `rules` leave out, in " +
        "sentences; it is there only where there are some.",
      body: { name: "worker", working_dir: "/srv/project", supervision: "strict" },
      answers: {
        201: { says: "It is made.", example: CREATED },
      },
      errors: ["name_taken", "limit_reached"],
    }).by(async ({ principal, body }) => {
      const session = await sessionCommands.create(principal, body);
      return { ...toCreated(session), ...sessionCommands.warnings(session, body) };
    }),
    serve(getSession, {
      tag: "Sessions",
      summary: "One session, with its settings",
      params: sessionParams,
      answer: { says: "The session.", example: { type: "ok", config: DETAIL } },
    }).by(async ({ principal, params }) => {
      const session = await sessions.require(principal, params.key);
      return { type: "ok", config: await sessionViews.detail(session) };
    }),
    serve(updateSession, {
      tag: "Sessions",
      summary: "Changes settings of a session",
      params: sessionParams,
      details:
        "What is left out stays as it is. The changes hold from the next turn on; `loopback_timeout_secs` for every request " +
        "from now on.",
      body: { model: "opus", max_budget_usd: 5 },
      answer: { says: "The session, as it is now.", example: { type: "ok", config: { ...DETAIL, model: "opus" } } },
      errors: ["limit_reached"],
    }).by(async ({ principal, params, body }) => {
      const session = await sessions.require(principal, params.key);
      const updated = await sessionCommands.update(principal, session, body);
      const config = await sessionViews.detail(updated);
      return { type: "ok", config, ...sessionCommands.warnings(updated, body) };
    }),
    serve(deleteSession, {
      tag: "Sessions",
      summary: "Cancels what runs in a session, and forgets it",
      params: sessionParams,
      answer: {
        says: "It is gone, and every process of its child but those named.",
        example: { type: "deleted", id: SESSION_ID },
      },
    }).by(async ({ principal, params }) => {
      const session = await sessions.require(principal, params.key);
      const left = await sessionCommands.remove(principal, session);
      return { type: "deleted", id: session.id, ...leftRunning(left) };
    }),
    serve(forkSession, {
      tag: "Sessions",
      summary: "Makes a session with the whole conversation so far",
      params: sessionParams,
      body: { new_name: "worker-2" },
      answers: { 201: { says: "It is made.", example: { type: "forked", id: SESSION_ID, head: HEAD } } },
      errors: ["name_taken", "turn_running", "limit_reached"],
    }).by(async ({ principal, params, body }) => {
      const session = await sessions.require(principal, params.key);
      const fork = await sessionCommands.fork(principal, session, body.new_name);
      return { type: "forked", id: fork.id, head: headOf(fork) };
    }),
    serve(getTree, {
      tag: "Sessions",
      summary: "The conversation with all its forks, one node for each block",
      params: sessionParams,
      answer: {
        says: "The tree.",
        example: {
          type: "ok",
          tree_id: TREE_ID,
          head: FIRST_HEAD,
          nodes: [{ id: ROOT_ID, parent_id: null, role: "root", content: {} }],
          has_more: false,
        },
      },
    }).by(async ({ principal, params }) => {
      const session = await sessions.require(principal, params.key);
      const { nodes, hasMore } = await conversations.tree(session);
      const shown = onOnePage(nodes.map(toNode));
      const has_more = hasMore || shown.length < nodes.length;
      return { type: "ok", tree_id: session.treeId, head: headOf(session), nodes: shown, has_more };
    }),
    serve(getContext, {
      tag: "Sessions",
      summary: "What the model has before it, from the root to the head",
      params: sessionParams,
      answer: {
        says: "The messages; the newest, where not all fit.",
        example: {
          type: "ok",
          messages: [{ role: "user", content: { type: "text", text: "Make hello.txt" } }],
          has_more: false,
        },
      },
    }).by(async ({ principal, params }) => {
      const session = await sessions.require(principal, params.key);
      const messages = (await conversations.context(session)).map(toMessage);
      const shown = onOnePage(messages.toReversed()).toReversed();
      return { type: "ok", messages: shown, has_more: shown.length < messages.length };
    }),
  ];
}
