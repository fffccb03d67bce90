import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../../contract/errors.ts";
import { seconds } from "../../contract/values.ts";
import type { TokenRow } from "../../storage/access.ts";
import type { Storage } from "../../storage/storage.ts";
import { ownerKey, type Principal } from "./principals.ts";

type NamedToken = { id: string; name: string; created_at: number };
/** How long a person stays signed in on the web page. */
export const WEB_TOKEN_MS = 30 * 24 * 60 * 60 * 1000;
/** More than one person has open: the page that signed in first is signed out. */
const MAX_PAGES_OF_ONE = 100;

/** Who calls with a token. The token of a page acts for its maker, and ends by itself. */
export type Holder = { principal: Principal; page?: { id: string; endsAt: number } };

export type Tokens = ReturnType<typeof createTokens>;

/** Tokens say who is calling: random, stored as a hash, looked up by their public half, compared in constant time. */
export function createTokens({
  storage,
  operatorToken,
  now,
}: {
  storage: Pick<Storage, "signInCodes" | "tokens">;
  operatorToken: string;
  now: () => number;
}) {
  const operatorHash = hashOf(operatorToken);
  const revocations = new Map<string, AbortController>();

  function newToken(token: Pick<TokenRow, "kind" | "name" | "sessionId">): { secret: string; row: TokenRow } {
    const id = randomBytes(9).toString("base64url").replaceAll("_", "-");
    const secret = `plx_${id}_${newSecret()}`;
    return { secret, row: { id, ...token, hash: hashOf(secret).toString("hex"), createdAt: now() } };
  }

  /** Whether a page's time is up since it called; no other token's ever is. */
  function isOver({ page }: Holder): boolean {
    return page !== undefined && page.endsAt <= now();
  }

  /** What these tokens hold open ends now. */
  function end(ids: string[]): void {
    for (const id of ids) {
      revocations.get(id)?.abort();
      revocations.delete(id);
    }
  }

  /** A page acts as its maker, while the maker's token is valid and the page's time is not up. */
  async function pageHolder({ id, name, createdAt }: TokenRow): Promise<Holder | undefined> {
    const maker = name === null ? undefined : await storage.tokens.get(name);
    if (name !== null && !maker) return undefined;
    const principal: Principal = maker ? asPrincipal(maker) : { kind: "operator" };
    const holder = { principal, page: { id, endsAt: createdAt + WEB_TOKEN_MS } };
    return isOver(holder) ? undefined : holder;
  }

  async function identify(secret: string): Promise<Holder | undefined> {
    const hash = hashOf(secret);
    if (timingSafeEqual(hash, operatorHash)) return { principal: { kind: "operator" } };
    const id = idIn(secret);
    const row = id === undefined ? undefined : await storage.tokens.get(id);
    if (!row || !timingSafeEqual(hash, Buffer.from(row.hash, "hex"))) return undefined;
    if (row.kind === "named") return { principal: asPrincipal(row) };
    if (row.kind === "web") return pageHolder(row);
    return row.sessionId ? { principal: { kind: "session", sessionId: row.sessionId } } : undefined;
  }

  return {
    /** Who holds this token; `undefined` when it is none of ours. */
    identify,

    /** The owners whose tokens stand in this text, such as the settings of an MCP server. */
    async ownersIn(text: string): Promise<string[]> {
      const found = await Promise.all([...text.matchAll(TOKENS)].map(([secret]) => identify(secret)));
      const holders = found.flatMap((holder) => holder?.principal ?? []);
      if (text.includes(JSON.stringify(operatorToken).slice(1, -1))) holders.push({ kind: "operator" });
      return [...new Set(holders.filter(({ kind }) => kind !== "session").map(ownerKey))];
    },

    async createNamed(name: string): Promise<NamedToken & { token: string }> {
      const { secret, row } = newToken({ kind: "named", name, sessionId: null });
      if (!(await storage.tokens.createIfNameFree(row))) {
        throw new AppError(
          "name_taken",
          `A token named "${name}" exists: choose another name, or revoke that one first.`,
        );
      }
      return { ...asNamed(row), token: secret };
    },

    /** A token for a child of this session; it lives until the session is deleted. */
    async createForChild(sessionId: string): Promise<string> {
      const { secret, row } = newToken({ kind: "child", name: null, sessionId });
      if (!(await storage.tokens.createIfNameFree(row))) throw new Error("two random token ids were equal");
      return secret;
    },

    /**
     * A token for a web page, which acts as the maker of the code; it ends with that maker's token, or by itself.
     * `undefined` when the code is of no use.
     */
    async createForWeb(codeHash: string): Promise<{ token: string; expires_at: number } | undefined> {
      const { secret, row } = newToken({ kind: "web", name: null, sessionId: null });
      const ended = await storage.signInCodes.redeem(codeHash, row, MAX_PAGES_OF_ONE, now());
      if (!ended) return undefined;
      end(ended);
      return { token: secret, expires_at: seconds(row.createdAt + WEB_TOKEN_MS) };
    },

    isOver,

    /** Ends the token of a page. */
    async endWeb(id: string): Promise<void> {
      await storage.tokens.endWeb(id);
      end([id]);
    },

    /** Ends every web token; returns how many there were. */
    async endEveryWeb(): Promise<number> {
      const ids = await storage.tokens.endEveryWeb();
      end(ids);
      return ids.length;
    },

    /** Aborted when the token that this one calls with is revoked, so that what it holds open ends too. */
    async revocation({ principal, page }: Holder): Promise<AbortSignal> {
      const id = page?.id ?? (principal.kind === "token" ? principal.id : undefined);
      if (id === undefined) return NEVER;
      const known = revocations.get(id) ?? new AbortController();
      // Known before it is read: a revocation that the read does not see yet will abort it.
      revocations.set(id, known);
      if (!(await storage.tokens.get(id))) end([id]);
      return known.signal;
    },

    listNamed: async (): Promise<NamedToken[]> => (await storage.tokens.listNamed()).map(asNamed),

    /** Ends a named token, its pages, and its turns that are queued; those that run go on. */
    async revoke(name: string): Promise<NamedToken> {
      const row = await storage.tokens.findNamed(name);
      const pages = row && (await storage.tokens.revoke(row.id, ownerKey(asPrincipal(row)), now()));
      if (!pages) throw new AppError("not_found", `There is no token named "${name}": see \`plexus token list\`.`);
      end([row.id, ...pages]);
      return asNamed(row);
    },
  };
}

/** Tokens as `newToken` makes them, wherever they stand. */
const TOKENS = /plx_[A-Za-z0-9-]+_[A-Za-z0-9_-]{43}/g;
const NEVER = new AbortController().signal;

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** The public half of a token. */
function idIn(secret: string): string | undefined {
  return /^plx_([A-Za-z0-9-]+)_/.exec(secret)?.[1];
}

function asPrincipal(row: TokenRow): Principal {
  return { kind: "token", id: row.id, name: row.name ?? row.id };
}

function asNamed(row: { id: string; name: string | null; createdAt: number }): NamedToken {
  return { id: row.id, name: row.name ?? row.id, created_at: seconds(row.createdAt) };
}
