import { headOf, toMessage, toNode } from "../../app.ts";
import { HEAD, INPUT, NODE_ID, ROOT_ID, TOOL_USE_ID, TREE_ID } from "../../contract/samples.ts";
import { SessionRef } from "../../contract/sessions/session.ts";
import { cutObject } from "../../contract/text/cut-object.ts";
import { fitting, listedChars } from "../../contract/text/fit.ts";
import { ContextAnswer, TreeAnswer } from "../../contract/tools/conversation-answers.ts";
import type { JsonObject } from "../../contract/values.ts";
import { tool } from "./declaration/tool.ts";
import { sessionOf } from "./session-reference.ts";

const MAX_CHARS = 38_000;
const readOnly = { readOnlyHint: true };
const PROMPT = { type: "text", text: "Make hello.txt" };

/** The tools that read what was said in a session. */
export const CONVERSATION_TOOLS = [
  tool({
    name: "claudecode_get_tree",
    title: "Read the tree",
    description: "Returns a conversation with all its forks, a node for each block.",
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
    description: "Returns the messages that a session's model sees, from root to head.",
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
    // If not all of them fit, keep the newest.
    const shown = fitContents(context.map(toMessage).toReversed()).toReversed();
    return { type: "ok", messages: shown, has_more: shown.length < context.length };
  }),
];

/** As many items from the front as fit, each cut if it is too long. */
function fitContents<T extends { content: JsonObject }>(items: T[]): T[] {
  const cut = items.values().map((item) => ({ ...item, content: cutObject(item.content, MAX_CHARS / 4) }));
  return fitting(cut, MAX_CHARS, listedChars);
}
