import type { SessionConfig, SessionKind } from "../contract/sessions/session.ts";
import type { SessionStatus } from "../contract/sessions/turn.ts";
import type { JsonObject } from "../contract/values.ts";
import type { NewRule, RuleLimits } from "./rules.ts";

export type SessionRow = {
  id: string;
  name: string;
  owner: string;
  kind: SessionKind;
  loopbackTimeoutSecs: number | null;
  createdAt: number;
  /** The settings that a child of this session starts with; null for a claude started by hand. */
  config: SessionConfig | null;
  /** The settings that replace `config` when the running turn ends; null if nothing was changed. */
  nextConfig: SessionConfig | null;
  /** The CLI's id of the conversation, once it has one. */
  claudeSessionId: string | null;
  /** The conversation's total cost as the CLI counts it, including its cost before a fork. */
  totalCostUsd: number;
  /** The cost of this session's own turns. */
  ownCostUsd: number;
  /** The CLI's id of the conversation that this one was forked from, until it has its own. */
  forkedFrom: string | null;
  /** For a fork, its parent session, which may be deleted. */
  originId: string | null;
  treeId: string | null;
  headNodeId: string | null;
  /** For a fork, the owner who supplied the MCP servers that it inherited. */
  serversFrom: string | null;
  /** When a claude started by hand was last configured, or last made a request. */
  seenAt: number | null;
};
/** A session without its settings; of these, a list shows only the directory. */
export type ListedSession = Omit<SessionRow, "config" | "nextConfig"> & { workingDir: string | null };
/** The number of sessions, and the total size of their settings. */
export type SessionSize = { count: number; bytes: number };

type CreatedSession =
  | { outcome: "created"; session: SessionRow }
  | { outcome: "name_taken" | "revoked" }
  | { outcome: "too_many"; size: SessionSize }
  | { outcome: "too_many_rules" };

/** A change of a session's settings, valid only if the stored ones still equal `from`. */
export type ConfigChange = {
  from: SessionConfig;
  to: SessionConfig;
  /** The owner who supplies its MCP servers from now on. */
  serversFrom: string | null;
  /** If the settings' rules change: the new rules, which replace those created by `madeBy`, or all of them. */
  rules?: { rules: NewRule[]; most: RuleLimits; madeBy: string | undefined } | undefined;
};
export type FirstRules = {
  rules: NewRule[];
  most: RuleLimits;
  /**
   * The parent of a fork: the rules of the parent's settings, and all its rules that deny or ask, also apply to the
   * fork.
   */
  boundLike?: string | undefined;
};
type UpdatedSession =
  | { outcome: "updated"; session: SessionRow }
  /** `changed`: another caller has changed the settings meanwhile. */
  | { outcome: "changed" | "no_session" | "revoked" }
  | { outcome: "too_many"; size: SessionSize }
  | { outcome: "too_many_rules" };

/** One message of a conversation; a fork shares its parent's nodes. */
export type NodeRow = {
  id: string;
  treeId: string;
  parentId: string | null;
  role: "root" | "user" | "assistant";
  content: JsonObject;
  createdAt: number;
};

/** `by` is the caller's token, if it has one; if it was revoked, nothing changes. */
export type SessionStorage = {
  get(id: string): Promise<SessionRow | undefined>;
  /** Finds a session by id, or by the name that this owner gave it. */
  find(owner: string, key: string): Promise<SessionRow | undefined>;
  named(owner: string, name: string): Promise<SessionRow | undefined>;
  /** Returns the names of this owner's newest sessions. */
  names(owner: string, limit: number): Promise<string[]>;
  listed(id: string): Promise<ListedSession | undefined>;
  /**
   * Lists ids, newest first, beginning after `cursor`, each with the size of the session's settings, without reading
   * these.
   */
  list(
    owner: string | undefined,
    page: { status?: SessionStatus | undefined; cursor?: string | undefined; limit: number },
  ): Promise<{ id: string; configBytes: number }[]>;

  /** Creates the session and, for `tree: "new"`, a conversation tree; a fork uses the tree of its parent. */
  createIfNameFree(
    session: SessionRow,
    tree: "new" | "shared" | "none",
    most: SessionSize,
    by?: string,
    first?: FirstRules,
  ): Promise<CreatedSession>;
  /** Records that a claude started by hand is configured and may make requests. */
  noteSeen(id: string, now: number): Promise<void>;
  /**
   * Changes the settings from the next turn on, and the rules and the approval timeout at once. A running turn keeps
   * its own settings until it ends.
   */
  updateIfUnchanged(id: string, change: ConfigChange, most: SessionSize, by?: string): Promise<UpdatedSession>;
  /**
   * Deletes some of its turns, about `limit` rows in all; returns how many, or `busy` if a turn is running or queued.
   */
  removeTurnsIfIdle(id: string, limit: number, by?: string): Promise<number | "busy" | "revoked">;
  /** Returns `busy` if a turn is running or queued. */
  removeIfIdle(id: string, by?: string): Promise<"removed" | "busy" | "revoked">;
};

export type ConversationStorage = {
  node(id: string): Promise<NodeRow | undefined>;
  /** Returns the nodes in insertion order. */
  listTree(treeId: string, limit: number): Promise<NodeRow[]>;
  /** Returns the nodes from the root to this node. */
  path(nodeId: string): Promise<NodeRow[]>;
  /** Returns the next tree id after this one. */
  treeAfter(treeId: string): Promise<string | undefined>;

  /**
   * Deletes up to `limit` nodes of a tree that no session uses; returns 0 if none are left, or if the tree is in use.
   */
  removeSomeIfUnused(treeId: string, limit: number): Promise<number>;
};
