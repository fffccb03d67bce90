import type { NodeRow } from "../../storage/sessions.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Session } from "./sessions.ts";

const MAX_NODES = 1_000;

type Head = { tree_id: string; node_id: string };
export type Conversations = ReturnType<typeof createConversations>;

/** The head of a session's conversation; null if it has no conversation. */
export function headOf(session: Session): Head | null {
  return session.treeId && session.headNodeId ? { tree_id: session.treeId, node_id: session.headNodeId } : null;
}

/** A session's conversation: a tree in which each fork follows a branch. */
export function createConversations({ storage }: { storage: Pick<Storage, "conversations"> }) {
  return {
    /** All branches, oldest node first. */
    tree: async (session: Session): Promise<{ nodes: NodeRow[]; hasMore: boolean }> => {
      const found = session.treeId ? await storage.conversations.listTree(session.treeId, MAX_NODES + 1) : [];
      return { nodes: found.slice(0, MAX_NODES), hasMore: found.length > MAX_NODES };
    },
    /** What the model sees: the path from the root to the head. */
    context: async (session: Session): Promise<NodeRow[]> => {
      const path = session.headNodeId ? await storage.conversations.path(session.headNodeId) : [];
      return path.filter((node) => node.role !== "root");
    },
  };
}
