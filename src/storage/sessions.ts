import type { SessionConfig, SessionKind } from "../contract/sessions/session.ts";
import type { SessionStatus } from "../contract/sessions/turn.ts";
import type { JsonObject } from "../contract/values.ts";

export type SessionRow = {
  id: string;
  name: string;
  owner: string;
  kind: SessionKind;
  loopbackTimeoutSecs: number | null;
  createdAt: number;
  /** What a child of this session is started with; by hand, there is none. */
  config: SessionConfig | null;
  /** The CLI's own id of the conversation, once it has one. */
  claudeSessionId: string | null;
  /** What the conversation has cost in all, as the CLI counts it. */
  totalCostUsd: number;
  /** The CLI's id of the conversation that this one began as a copy of, until it has one of its own. */
  forkedFrom: string | null;
  treeId: string | null;
  headNodeId: string | null;
  /** Of a fork, the owner who brought the MCP servers that it has from its parent. */
  serversFrom: string | null;
};
/** A session without its settings, of which a list shows the directory alone. */
export type ListedSession = Omit<SessionRow, "config"> & { workingDir: string | null };
/** How many sessions there are, and how large their settings are together. */
export type SessionSize = { count: number; bytes: number };

type CreatedSession =
  | { outcome: "created"; session: SessionRow }
  | { outcome: "name_taken" }
  | { outcome: "too_many"; size: SessionSize };

/** Something that was said in a session; a fork shares the nodes that it has in common with its parent. */
export type NodeRow = {
  id: string;
  treeId: string;
  parentId: string | null;
  role: "root" | "user" | "assistant";
  content: JsonObject;
  createdAt: number;
};

export type SessionStorage = {
  get(id: string): Promise<SessionRow | undefined>;
  /** By id, else by the name that this owner gave it. */
  find(owner: string, key: string): Promise<SessionRow | undefined>;
  listed(id: string): Promise<ListedSession | undefined>;
  /** Which there are, newest first, beginning after `cursor`, and how large the settings of each are, which are not read. */
  list(
    owner: string | undefined,
    page: { status?: SessionStatus | undefined; cursor?: string | undefined; limit: number },
  ): Promise<{ id: string; configBytes: number }[]>;

  /** With a new tree of what is said in it, where it has one of its own; a fork goes on in that of its parent. */
  createIfNameFree(session: SessionRow, tree: "new" | "shared" | "none", most: SessionSize): Promise<CreatedSession>;
  /**
   * Forgets some of its turns, about `limit` rows in all; 0 when none is left, and `undefined` when one runs or is queued.
   */
  removeTurnsIfIdle(id: string, limit: number): Promise<number | undefined>;
  /** `false` when a turn runs or is queued in it. */
  removeIfIdle(id: string): Promise<boolean>;
};

export type ConversationStorage = {
  /** In the order in which they were added. */
  listTree(treeId: string, limit: number): Promise<NodeRow[]>;
  /** From the root to this node. */
  path(nodeId: string): Promise<NodeRow[]>;
  /** The first tree after this one in the order of ids. */
  treeAfter(treeId: string): Promise<string | undefined>;

  /** Forgets some of a tree that no session is on, at most `limit`; 0 when nothing of it is left, or it is in use. */
  removeSomeIfUnused(treeId: string, limit: number): Promise<number>;
};
