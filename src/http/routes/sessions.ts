import { zValidator } from "@hono/zod-validator";
import { type Context, Hono } from "hono";
import { type App, headOf, type Session, toMessage, toNode } from "../../app.ts";
import { leftRunning } from "../../contract/sessions/left-running.ts";
import { ChatWaitInput, CreateInput, ForkInput } from "../../contract/sessions/session.ts";
import { SessionStatus } from "../../contract/sessions/turn.ts";
import { type Env, refuseRevoked } from "../middleware/auth.ts";
import { jsonBody } from "../middleware/body.ts";
import { refuseInvalid } from "../middleware/errors.ts";
import { fitting, PageQuery } from "./paging.ts";

export const SessionQuery = PageQuery.extend({ status: SessionStatus.optional() });
/** The path names the session. */
export const Chat = ChatWaitInput.omit({ name: true, session_id: true });
export const Fork = ForkInput.omit({ name: true });
/** What a turn has said, in an answer; all of it is in its events. */
const MAX_TEXT_CHARS = 100_000;

/** Sessions: made, given work, looked at. `:key` is a session's id or its name. */
export function sessionRoutes(app: App, closing: AbortSignal) {
  const sessionOf = (c: Context<Env>): Promise<Session> =>
    app.sessions.require(c.get("principal"), c.req.param("key") ?? "");

  return new Hono<Env>()
    .get("/", zValidator("query", SessionQuery, refuseInvalid), async (c) => {
      const { sessions, cursor } = await app.sessionViews.list(c.get("principal"), c.req.valid("query"));
      return c.json({ type: "ok", sessions, has_more: cursor !== null, cursor });
    })
    .post("/", jsonBody, zValidator("json", CreateInput, refuseInvalid), async (c) => {
      const session = await app.sessionCommands.create(c.get("principal"), c.req.valid("json"));
      return c.json({ type: "created", id: session.id, name: session.name, head: headOf(session) }, 201);
    })
    .get("/:key", async (c) => c.json({ type: "ok", config: await app.sessionViews.detail(await sessionOf(c)) }))
    .delete("/:key", async (c) => {
      const session = await sessionOf(c);
      const left = await app.sessionCommands.remove(session);
      return c.json({ type: "deleted", id: session.id, ...leftRunning(left) });
    })
    .post("/:key/chat", jsonBody, zValidator("json", Chat, refuseInvalid), async (c) => {
      const session = await sessionOf(c);
      const { prompt, ephemeral, wait_secs } = c.req.valid("json");
      if (wait_secs === undefined) {
        const turn = await app.turns.start(session, prompt, ephemeral ?? false);
        const place = turn.status === "queued" ? await app.turns.place(turn.id) : undefined;
        const about = { session_id: session.id, turn_id: turn.id };
        return c.json(place === undefined ? { type: "started", ...about } : { type: "queued", ...about, place }, 202);
      }
      c.env.server?.timeout(c.req.raw, 0);
      const signal = AbortSignal.any([c.req.raw.signal, closing, c.get("revoked")]);
      const wait = { waitMs: wait_secs * 1000, signal, maxChars: MAX_TEXT_CHARS };
      const outcome = await app.sessionCommands.chat(session, { prompt, ephemeral }, wait);
      const { turn, status, text, error, pending, usage, place } = outcome;
      refuseRevoked(c);
      return c.json({
        type: "ok",
        session_id: session.id,
        turn_id: turn.id,
        status,
        ...(place !== undefined && { place }),
        text,
        error,
        pending_approvals: pending.approvals,
        usage,
      });
    })
    .post("/:key/cancel", async (c) => {
      const session = await sessionOf(c);
      const left = await app.turns.cancel(session);
      return c.json({ type: left ? "cancelled" : "not_running", session_id: session.id, ...leftRunning(left ?? []) });
    })
    .post("/:key/fork", jsonBody, zValidator("json", Fork, refuseInvalid), async (c) => {
      const fork = await app.sessions.fork(c.get("principal"), await sessionOf(c), c.req.valid("json").new_name);
      return c.json({ type: "forked", id: fork.id, head: headOf(fork) }, 201);
    })
    .get("/:key/tree", async (c) => {
      const session = await sessionOf(c);
      const { nodes, hasMore } = await app.conversations.tree(session);
      const shown = fitting(nodes.map(toNode));
      const has_more = hasMore || shown.length < nodes.length;
      return c.json({ type: "ok", tree_id: session.treeId, head: headOf(session), nodes: shown, has_more });
    })
    .get("/:key/context", async (c) => {
      const messages = (await app.conversations.context(await sessionOf(c))).map(toMessage);
      // The newest matter most where not all of them fit.
      const shown = fitting(messages.toReversed()).toReversed();
      return c.json({ type: "ok", messages: shown, has_more: shown.length < messages.length });
    })
    .get("/:key/turns", zValidator("query", PageQuery, refuseInvalid), async (c) => {
      const { turns, cursor } = await app.sessionViews.turns(await sessionOf(c), c.req.valid("query"));
      return c.json({ type: "ok", turns, has_more: cursor !== null, cursor });
    });
}
