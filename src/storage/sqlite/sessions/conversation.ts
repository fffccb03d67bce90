import type { JsonObject } from "../../../contract/values.ts";
import type { SessionRow } from "../../sessions.ts";
import type { NodeQueries } from "./nodes.ts";
import type { SessionQueries } from "./sessions.ts";

type Said = { role: "user" | "assistant"; content: JsonObject };
export type Conversation = ReturnType<typeof createConversation>;

/** Appends to conversations, inside a transaction. */
export function createConversation({
  nodes,
  sessions,
  newId,
}: {
  nodes: NodeQueries;
  sessions: SessionQueries;
  newId: () => string;
}) {
  return {
    /** Appends messages after the session's head and returns the new head; null if the session has no conversation. */
    say({ id: sessionId, treeId, headNodeId }: SessionRow, said: Said[], createdAt: number): string | null {
      if (!treeId || !headNodeId || said.length === 0) return null;
      const head = said.reduce((parentId, one) => {
        const id = newId();
        nodes.add({ id, treeId, parentId, ...one, createdAt });
        return id;
      }, headNodeId);
      sessions.setHead(sessionId, head);
      return head;
    },
  };
}
