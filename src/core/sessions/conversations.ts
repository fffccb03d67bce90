import type { JsonObject } from "../../contract/values.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { NodeRow } from "../../storage/sqlite/sessions/nodes.ts";
import type { Session } from "./sessions.ts";

const MAX_NODES = 1_000;

export type Head = { tree_id: string; node_id: string };
export type Conversations = ReturnType<typeof createConversations>;

/** A session without any conversation of its own has none to show. */
export function headOf(session: Session): Head | null {
  return session.treeId && session.headNodeId ? { tree_id: session.treeId, node_id: session.headNodeId } : null;
}

/** Adds what was said behind `head`, and returns the new head; called inside a transaction. */
export function say(
  storage: Storage,
  head: Head,
  said: { role: "user" | "assistant"; content: JsonObject },
  at: number,
): Head {
  const id = storage.newId();
  storage.nodes.add({ id, treeId: head.tree_id, parentId: head.node_id, ...said, createdAt: at });
  return { tree_id: head.tree_id, node_id: id };
}

/** What was said in a session: a tree, of which each fork of the session follows a branch. */
export function createConversations({ storage }: { storage: Storage }) {
  return {
    /** All branches, oldest node first. */
    tree: (session: Session): { nodes: NodeRow[]; hasMore: boolean } => {
      const found = session.treeId ? storage.nodes.listTree(session.treeId, MAX_NODES + 1) : [];
      return { nodes: found.slice(0, MAX_NODES), hasMore: found.length > MAX_NODES };
    },
    /** What the model has before it: from the root to the head. */
    context: (session: Session): NodeRow[] =>
      session.headNodeId ? storage.nodes.path(session.headNodeId).filter((node) => node.role !== "root") : [],
  };
}
