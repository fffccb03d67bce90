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
  /** What a child of this session is started with; by hand, there is none. */
  config: SessionConfig | null;
  /** What `config` becomes when the turn that runs has ended; none where nothing was changed meanwhile. */
  nextConfig: SessionConfig | null;
  /** The CLI's own id of the conversation, once it has one. */
  claudeSessionId: string | null;
  /** What the conversation has cost in all, as the CLI counts it: with what it had cost before it was forked. */
  totalCostUsd: number;
  /** What the turns of this session have cost. */
  ownCostUsd: number;
  /** The CLI's id of the conversation that this one began as a copy of, until it has one of its own. */
  forkedFrom: string | null;
  /** Of a fork, the session that it went on from, which may be gone. */
  originId: string | null;
  treeId: string | null;
  headNodeId: string | null;
  /** Of a fork, the owner who brought the MCP servers that it has from its parent. */
  serversFrom: string | null;
  /** When a claude that is started by hand was last configured, or asked. */
  seenAt: number | null;
};
/** A session without its settings, of which a list shows the directory alone. */
export type ListedSession = Omit<SessionRow, "config" | "nextConfig"> & { workingDir: string | null };
/** How many sessions there are, and how large their settings are together. */
export type SessionSize = { count: number; bytes: number };

type CreatedSession =
  | { outcome: "created"; session: SessionRow }
  | { outcome: "name_taken" | "revoked" }
  | { outcome: "too_many"; size: SessionSize }
  | { outcome: "too_many_rules" };

/** How the settings of a session are to change, by those that were read. */
export type ConfigChange = {
  from: SessionConfig;
  to: SessionConfig;
  /** Who brought its MCP servers, from now on. */
  serversFrom: string | null;
  /** The rules that take the place of those in its settings that `madeBy` has made, or everybody; where these change too. */
  rules?: { rules: NewRule[]; most: RuleLimits; madeBy: string | undefined } | undefined;
};
/** The rules that a new session begins with. */
export type FirstRules = {
  rules: NewRule[];
  most: RuleLimits;
  /** The session that it goes on from: the rules of its settings, and those against something, hold in this one too. */
  boundLike?: string | undefined;
};
type UpdatedSession =
  | { outcome: "updated"; session: SessionRow }
  /** Somebody else has changed them meanwhile. */
  | { outcome: "changed" | "no_session" | "revoked" }
  | { outcome: "too_many"; size: SessionSize }
  | { outcome: "too_many_rules" };

/** Something that was said in a session; a fork shares the nodes that it has in common with its parent. */
export type NodeRow = {
  id: string;
  treeId: string;
  parentId: string | null;
  role: "root" | "user" | "assistant";
  content: JsonObject;
  createdAt: number;
};

/** `by` is the token that calls, if it is one of ours: when it was revoked, nothing is changed. */
export type SessionStorage = {
  get(id: string): Promise<SessionRow | undefined>;
  /** By id, else by the name that this owner gave it. */
  find(owner: string, key: string): Promise<SessionRow | undefined>;
  named(owner: string, name: string): Promise<SessionRow | undefined>;
  /** Of the newest that this owner has. */
  names(owner: string, limit: number): Promise<string[]>;
  listed(id: string): Promise<ListedSession | undefined>;
  /** Which there are, newest first, beginning after `cursor`, and how large the settings of each are, which are not read. */
  list(
    owner: string | undefined,
    page: { status?: SessionStatus | undefined; cursor?: string | undefined; limit: number },
  ): Promise<{ id: string; configBytes: number }[]>;

  /** With a new tree of what is said in it, where it has one of its own; a fork goes on in that of its parent. */
  createIfNameFree(
    session: SessionRow,
    tree: "new" | "shared" | "none",
    most: SessionSize,
    by?: string,
    first?: FirstRules,
  ): Promise<CreatedSession>;
  /** A claude that is started by hand is configured: it may ask from now on. */
  noteSeen(id: string, now: number): Promise<void>;
  /**
   * Its settings are others from the next turn on, its rules and how long a request waits at once; while a turn runs, that
   * one keeps its own until its end.
   */
  updateIfUnchanged(id: string, change: ConfigChange, most: SessionSize, by?: string): Promise<UpdatedSession>;
  /** Forgets some of its turns, about `limit` rows in all, and tells how many; `busy` when one runs or is queued. */
  removeTurnsIfIdle(id: string, limit: number, by?: string): Promise<number | "busy" | "revoked">;
  /** `busy` when a turn runs or is queued in it. */
  removeIfIdle(id: string, by?: string): Promise<"removed" | "busy" | "revoked">;
};

export type ConversationStorage = {
  node(id: string): Promise<NodeRow | undefined>;
  /** In the order in which they were added. */
  listTree(treeId: string, limit: number): Promise<NodeRow[]>;
  /** From the root to this node. */
  path(nodeId: string): Promise<NodeRow[]>;
  /** The first tree after this one in the order of ids. */
  treeAfter(treeId: string): Promise<string | undefined>;

  /** Forgets some of a tree that no session is on, at most `limit`; 0 when nothing of it is left, or it is in use. */
  removeSomeIfUnused(treeId: string, limit: number): Promise<number>;
};
