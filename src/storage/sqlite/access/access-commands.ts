import type { McpClientStorage, SignInCodeStorage, TokenStorage } from "../../access.ts";
import { REVOKED_WHILE_QUEUED } from "../../record/turn-record.ts";
import type { ReaderQueries } from "../events/readers.ts";
import type { RuleQueries } from "../rules/rules.ts";
import type { TurnQueue } from "../turns/turn-queue.ts";
import type { TurnQueries } from "../turns/turns.ts";
import type { Write } from "../writer.ts";
import type { McpClientQueries } from "./mcp-clients.ts";
import type { SignInCodeQueries } from "./sign-in-codes.ts";
import type { TokenQueries } from "./tokens.ts";

type AccessCommandsNeed = {
  write: Write;
  tokens: TokenQueries;
  codes: SignInCodeQueries;
  clients: McpClientQueries;
  readers: ReaderQueries;
  turns: TurnQueries;
  queue: TurnQueue;
  rules: RuleQueries;
};

/** Creates tokens, and deletes them with everything that belongs to them. */
export function tokenCommands({
  write,
  tokens,
  codes,
  clients,
  readers,
  turns,
  queue,
  rules,
}: AccessCommandsNeed): Omit<TokenStorage, "get" | "findNamed" | "listNamed" | "missing"> {
  return {
    createIfNameFree: (token, by) => write(() => !tokens.isRevoked(by) && tokens.createIfNameFree(token) !== undefined),
    noteUsed: (ids, now) => write(() => tokens.noteUsed(ids, now)),
    endWeb: (id) => write(() => tokens.removeWeb(id)),
    endEveryWeb: () =>
      write(() => {
        codes.removeAll();
        return tokens.removeEveryWeb();
      }),
    revoke: (id, owner, now) =>
      write((announce) => {
        // The foreign key deletes the token's sign-in codes too.
        if (!tokens.removeNamed(id)) return undefined;
        clients.removeOwned(owner);
        readers.removeOwned(owner);
        rules.forgetOwnerOfHits(owner);
        if (rules.removeAllowsOf(owner)) rules.changed();
        for (const queued of turns.queuedIdsOf(owner)) queue.endIfQueued(announce, queued, REVOKED_WHILE_QUEUED, now);
        queue.forgetOwner(owner);
        return tokens.removeWebOf(id);
      }),
    removeWebBefore: (before, limit) => write(() => tokens.removeWebBefore(before, limit)),
  };
}

export function signInCodeCommands({
  write,
  codes,
  tokens,
}: Pick<AccessCommandsNeed, "write" | "codes" | "tokens">): SignInCodeStorage {
  return {
    create: (code, most, now) =>
      write(() => {
        if (tokens.isRevoked(code.tokenId ?? undefined)) return false;
        codes.removeExpired(now);
        codes.removeOldestOf(code.tokenId, most - 1);
        codes.create(code);
        return true;
      }),
    redeem: (hash, page, kept, now) =>
      write(() => {
        codes.removeExpired(now);
        // When a token was revoked, its codes were deleted with it.
        const code = codes.take(hash);
        if (!code) return undefined;
        tokens.createIfNameFree({ ...page, name: code.tokenId });
        return tokens.removeOlderWebOf(code.tokenId, kept);
      }),
  };
}

export function mcpClientCommands({
  write,
  clients,
}: Pick<AccessCommandsNeed, "write" | "clients">): Omit<McpClientStorage, "get"> {
  return {
    save: (client, most) =>
      write(() => {
        clients.save(client);
        clients.removeOldestOf(client.owner, most);
      }),
    remove: (id) => write(() => clients.remove(id)),
    removeUnusedSince: (before, limit) => write(() => clients.removeUnusedSince(before, limit)),
  };
}
