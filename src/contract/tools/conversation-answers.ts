import { z } from "zod";
import { SessionDetail } from "../sessions/session-view.ts";
import { Id, JsonObject } from "../values.ts";

/** One block of content of a conversation. */
const Node = z.strictObject({
  id: Id,
  parent_id: Id.nullable(),
  role: z.enum(["root", "user", "assistant"]),
  content: JsonObject,
});

export const TreeAnswer = z.strictObject({
  type: z.literal("ok"),
  tree_id: Id.nullable(),
  head: SessionDetail.shape.head,
  nodes: z.array(Node),
  has_more: z.boolean(),
});

export const ContextAnswer = z.strictObject({
  type: z.literal("ok"),
  messages: z.array(Node.pick({ role: true, content: true })),
  has_more: z.boolean(),
});
