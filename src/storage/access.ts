import type { JsonObject } from "../contract/values.ts";

export type TokenRow = {
  id: string;
  kind: "named" | "child" | "web";
  /** Of a named token its name; of a web token the id of the named one that it acts as, if any. */
  name: string | null;
  sessionId: string | null;
  hash: string;
  createdAt: number;
  /** The patterns of what it may allow by itself; null for all that its children ask. */
  grant: string[] | null;
  /** When it was last called with, or a page of its own was, to the minute. */
  usedAt: number | null;
};

export type TokenStorage = {
  get(id: string): Promise<TokenRow | undefined>;
  findNamed(name: string): Promise<TokenRow | undefined>;
  listNamed(): Promise<TokenRow[]>;
  /** Which of these there are none of. */
  missing(ids: string[]): Promise<string[]>;

  /** `false` when another named token has that name, or `by`, the token that makes it, was revoked. */
  createIfNameFree(token: TokenRow, by?: string): Promise<boolean>;
  /** These were called with at this time. */
  noteUsed(ids: string[], now: number): Promise<void>;
  endWeb(id: string): Promise<void>;
  /** Ends every page's sign-in, and every code that is not used yet; returns their ids. */
  endEveryWeb(): Promise<string[]>;
  /**
   * Ends a named token with all that is its own: its pages, its codes, its MCP clients, its readers, the rules with
   * which it allowed something, and its turns that are queued.
   * Returns the ids of its pages; `undefined` when there is no such token any more.
   */
  revoke(id: string, owner: string, now: number): Promise<string[] | undefined>;
  /** Forgets up to `limit` pages' tokens made before `before`; returns how many. */
  removeWebBefore(before: number, limit: number): Promise<number>;
};

/** A code that signs a page in, once; stored as a hash. */
export type SignInCodeRow = {
  hash: string;
  /** The named token whose page it signs in; none for the operator's. */
  tokenId: string | null;
  expiresAt: number;
};

export type SignInCodeStorage = {
  /** Forgets those that are too old, and this maker's oldest where it has `most`; `false` when its token was revoked. */
  create(code: SignInCodeRow, most: number, now: number): Promise<boolean>;
  /**
   * Uses the code up and creates its page's token, and ends all but the newest `kept` pages that act as the same; returns
   * their ids. `undefined` when the code was used, is too old, never was, or its token was revoked.
   */
  redeem(hash: string, page: Omit<TokenRow, "name">, kept: number, now: number): Promise<string[] | undefined>;
};

/** An MCP client that was told a session id, and what it has set up with us. */
export type McpClientRow = { id: string; owner: string; setup: JsonObject[]; usedAt: number };

export type McpClientStorage = {
  get(id: string): Promise<McpClientRow | undefined>;

  /** Forgets all but the `most` of this owner that were used last. */
  save(client: McpClientRow, most: number): Promise<void>;
  remove(id: string): Promise<void>;
  /** Forgets up to `limit` of those last used before `before`; returns how many. */
  removeUnusedSince(before: number, limit: number): Promise<number>;
};
