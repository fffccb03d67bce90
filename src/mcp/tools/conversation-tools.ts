import { headOf, toMessage, toNode } from "../../app.ts";
import { cutObject } from "../../contract/cut.ts";
import { fitting, listedChars } from "../../contract/fit.ts";
import { HEAD, INPUT, NODE_ID, ROOT_ID, TOOL_USE_ID, TREE_ID } from "../../contract/samples.ts";
import { SessionRef } from "../../contract/sessions/session.ts";
import { ContextAnswer, TreeAnswer } from "../../contract/tools/conversation-answers.ts";
import type { JsonObject } from "../../contract/values.ts";
import { sessionOf } from "./session-reference.ts";
import { tool } from "./tool.ts";

const MAX_CHARS = 38_000;
const readOnly = { readOnlyHint: true, openWorldHint: false };
const PROMPT = { type: "text", text: "Make hello.txt" };

/** What was said in a session. */
export const CONVERSATION_TOOLS = [
  tool({
    name: "claudecode_get_tree",
    title: "Read the conversation's tree",
    description: "Returns the nodes of a session's conversation, one for each block of content, with all its forks.",
    input: SessionRef,
    answer: TreeAnswer,
    examples: [
      {
        input: { name: "worker" },
        answer: {
          type: "ok",
          tree_id: TREE_ID,
          head: HEAD,
          nodes: [
            { id: ROOT_ID, parent_id: null, role: "root", content: {} },
            { id: NODE_ID, parent_id: ROOT_ID, role: "user", content: PROMPT },
          ],
          has_more: false,
        },
      },
    ],
    annotations: readOnly,
    untrusted: ["nodes"],
  }).runs(async (call, reference) => {
    const session = await sessionOf(call, reference);
    const { nodes, hasMore } = await call.app.conversations.tree(session);
    const shown = fitContents(nodes.map(toNode));
    const has_more = hasMore || shown.length < nodes.length;
    return { type: "ok", tree_id: session.treeId, head: headOf(session), nodes: shown, has_more };
  }),
  tool({
    name: "claudecode_render_context",
    title: "Read the conversation",
    description: "Returns what the model has before it in a session: the messages from the root to the head.",
    input: SessionRef,
    answer: ContextAnswer,
    examples: [
      {
        input: { name: "worker" },
        answer: {
          type: "ok",
          messages: [
            { role: "user", content: PROMPT },
            { role: "assistant", content: { type: "tool_use", id: TOOL_USE_ID, name: "Bash", input: INPUT } },
          ],
          has_more: false,
        },
      },
    ],
    annotations: readOnly,
    untrusted: ["messages"],
  }).runs(async (call, reference) => {
    const context = await call.app.conversations.context(await sessionOf(call, reference));
    // The newest matter most where not all of them fit.
    const shown = fitContents(context.map(toMessage).toReversed()).toReversed();
    return { type: "ok", messages: shown, has_more: shown.length < context.length };
  }),
];

/** As many from the front as fit, each cut where it is too long. */
function fitContents<T extends { content: JsonObject }>(items: T[]): T[] {
  const cut = items.values().map((item) => ({ ...item, content: cutObject(item.content, MAX_CHARS / 4) }));
  return fitting(cut, MAX_CHARS, listedChars);
}
