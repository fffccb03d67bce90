import type { JsonObject } from "../contract/values.ts";

export type TokenRow = {
  id: string;
  kind: "named" | "child" | "web";
  /** A named token's name; for a web token, the id of the named token that it acts as, or null for the operator. */
  name: string | null;
  sessionId: string | null;
  hash: string;
  createdAt: number;
  /** The patterns of calls that this token may allow; null if it may allow everything that its children request. */
  grant: string[] | null;
  /** When a request, or one of the token's web pages, last used it; accurate to the minute. */
  usedAt: number | null;
};

export type TokenStorage = {
  get(id: string): Promise<TokenRow | undefined>;
  findNamed(name: string): Promise<TokenRow | undefined>;
  listNamed(): Promise<TokenRow[]>;
  /** Returns the ids that no token has. */
  missing(ids: string[]): Promise<string[]>;

  /** Returns `false` if another named token has this name, or if `by`, the token that creates it, was revoked. */
  createIfNameFree(token: TokenRow, by?: string): Promise<boolean>;
  /** Sets `usedAt` of these tokens. */
  noteUsed(ids: string[], now: number): Promise<void>;
  endWeb(id: string): Promise<void>;
  /** Signs out every web page and deletes every unused sign-in code; returns the ids of the pages' tokens. */
  endEveryWeb(): Promise<string[]>;
  /**
   * Deletes a named token with everything that it owns: its web pages, sign-in codes, MCP clients, readers and allow
   * rules; cancels its queued turns. Returns the ids of its pages' tokens, or `undefined` if the token no longer
   * exists.
   */
  revoke(id: string, owner: string, now: number): Promise<string[] | undefined>;
  /** Deletes up to `limit` web tokens created before `before`; returns how many. */
  removeWebBefore(before: number, limit: number): Promise<number>;
};

/** A one-time code that signs a web page in; stored as a hash. */
export type SignInCodeRow = {
  hash: string;
  /** The named token that the page will act as; null for the operator. */
  tokenId: string | null;
  expiresAt: number;
};

export type SignInCodeStorage = {
  /**
   * Deletes expired codes, and this creator's oldest ones if it has `most`. Returns `false` if the creator's token was
   * revoked.
   */
  create(code: SignInCodeRow, most: number, now: number): Promise<boolean>;
  /**
   * Consumes the code, creates the page's token, and signs out all but the newest `kept` pages that act as the same
   * token; returns the ids of those signed out. Returns `undefined` if the code was used, has expired or never existed,
   * or if its token was revoked.
   */
  redeem(hash: string, page: Omit<TokenRow, "name">, kept: number, now: number): Promise<string[] | undefined>;
};

/** An MCP client that has a session id, and the messages with which it set the session up. */
export type McpClientRow = { id: string; owner: string; setup: JsonObject[]; usedAt: number };

export type McpClientStorage = {
  get(id: string): Promise<McpClientRow | undefined>;

  /** Keeps only the `most` recently used clients of this owner. */
  save(client: McpClientRow, most: number): Promise<void>;
  remove(id: string): Promise<void>;
  /** Deletes up to `limit` clients last used before `before`; returns how many. */
  removeUnusedSince(before: number, limit: number): Promise<number>;
};
