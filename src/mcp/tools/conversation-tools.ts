import { headOf, toMessage, toNode } from "../../app.ts";
import { cutObject } from "../../contract/cut.ts";
import { ForkInput, SessionRef, StreamsInput } from "../../contract/sessions/session.ts";
import type { JsonObject } from "../../contract/values.ts";
import { sessionOf } from "./session-reference.ts";
import { type RunnableTool, tool } from "./tool.ts";

const MAX_CHARS = 38_000;
const MAX_STREAMS = 100;
const readOnly = { readOnlyHint: true, openWorldHint: false };

/** The tools that look at what sessions are, and at what was said in them. */
export const CONVERSATION_TOOLS: RunnableTool[] = [
  tool({
    name: "claudecode_get",
    title: "Look at a session",
    description: "Returns what a session is: its configuration, its status, and where its conversation stands.",
    input: SessionRef,
    annotations: readOnly,
    untrusted: ["config"],
    async run({ app, principal }, reference) {
      const session = await sessionOf(app, principal, reference);
      return { type: "ok", config: cutObject(await app.sessionViews.detail(session), MAX_CHARS) };
    },
  }),
  tool({
    name: "claudecode_streams",
    title: "List turns",
    description: "Lists the turns of your sessions, newest first: how each stands, and how far you have read it.",
    input: StreamsInput,
    annotations: readOnly,
    untrusted: ["streams"],
    async run({ app, principal }, { session_id }) {
      const sessionId = session_id && (await app.sessions.require(principal, session_id)).id;
      const rows = await app.polls.list(principal, sessionId, MAX_STREAMS);
      const streams = rows.map(async (row) => {
        const { usage, ephemeral, unasked, ...turn } = await app.sessionViews.turn(row);
        const read_position = await app.polls.position(row.id, "");
        const error = turn.error?.slice(0, 150) ?? null;
        return { ...turn, read_position, error, ...(unasked > 0 && { unasked }) };
      });
      return { type: "ok", streams: await Promise.all(streams) };
    },
  }),
  tool({
    name: "claudecode_fork",
    title: "Fork a session",
    description:
      "Makes a new session that goes on with the whole conversation of another so far, and leaves that one untouched.",
    input: ForkInput,
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    async run({ app, principal }, { name, new_name }) {
      const fork = await app.sessions.fork(principal, await app.sessions.require(principal, name), new_name);
      return { type: "forked", id: fork.id, head: headOf(fork), next: "Give it work with claudecode_chat_async." };
    },
  }),
  tool({
    name: "claudecode_get_tree",
    title: "Read the conversation's tree",
    description: "Returns the nodes of a session's conversation, one for each block of content, with all its forks.",
    input: SessionRef,
    annotations: readOnly,
    untrusted: ["nodes"],
    async run({ app, principal }, reference) {
      const session = await sessionOf(app, principal, reference);
      const { nodes, hasMore } = await app.conversations.tree(session);
      const shown = nodes.map(toNode);
      const fitting = fit(shown, MAX_CHARS);
      const has_more = hasMore || fitting.length < shown.length;
      return { type: "ok", tree_id: session.treeId, head: headOf(session), nodes: fitting, has_more };
    },
  }),
  tool({
    name: "claudecode_render_context",
    title: "Read the conversation",
    description: "Returns what the model has before it in a session: the messages from the root to the head.",
    input: SessionRef,
    annotations: readOnly,
    untrusted: ["messages"],
    async run({ app, principal }, reference) {
      const session = await sessionOf(app, principal, reference);
      const messages = (await app.conversations.context(session)).map(toMessage);
      // The newest matter most where not all of them fit.
      const fitting = fit(messages.toReversed(), MAX_CHARS).toReversed();
      return { type: "ok", messages: fitting, has_more: fitting.length < messages.length };
    },
  }),
];

/** As many from the front as fit, each cut where it is too long. */
function fit<T extends { content: JsonObject }>(items: T[], maxChars: number): T[] {
  let room = maxChars;
  const fitting: T[] = [];
  for (const item of items) {
    const cut = { ...item, content: cutObject(item.content, maxChars / 4) };
    room -= JSON.stringify(cut).length + 1;
    if (room < 0) break;
    fitting.push(cut);
  }
  return fitting;
}
