import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError, tokenRevoked } from "../../contract/refusals/errors.ts";
import { seconds } from "../../contract/values.ts";
import type { TokenRow } from "../../storage/access.ts";
import type { Storage } from "../../storage/storage.ts";
import { readMatch } from "../rules/matching/pattern.ts";
import { callingToken, ownerKey, type Principal } from "./principals.ts";

type NamedToken = { id: string; name: string; created_at: number; last_used_at: number | null; grant?: string[] };
/** How long a web page stays signed in. */
export const WEB_TOKEN_MS = 30 * 24 * 60 * 60 * 1000;
/** More than a person has open. Beyond it, the page that signed in first is signed out. */
const MAX_PAGES_OF_ONE = 100;
/** The last use of a token is stored at most once in this time. */
const NOTED_EVERY_MS = 60_000;

/** The caller behind a token. A page's token acts for its maker and expires. */
export type Holder = { principal: Principal; page?: { id: string; endsAt: number } };

export type Tokens = ReturnType<typeof createTokens>;

/**
 * Tokens identify callers. They are random and stored as a hash; they are looked up by their public half and compared
 * in constant time.
 */
export function createTokens({
  storage,
  operatorToken,
  now,
  onError,
}: {
  storage: Pick<Storage, "signInCodes" | "tokens">;
  operatorToken: string;
  now: () => number;
  onError: (cause: unknown) => void;
}) {
  const operatorHash = hashOf(operatorToken);
  const revocations = new Map<string, AbortController>();
  /** Ids of tokens whose last use is being stored. */
  const noting = new Set<string>();

  function newToken(token: Pick<TokenRow, "kind" | "name" | "sessionId"> & { grant?: string[] | undefined }): {
    secret: string;
    row: TokenRow;
  } {
    const id = randomBytes(9).toString("base64url").replaceAll("_", "-");
    const secret = `plx_${id}_${newSecret()}`;
    const hash = hashOf(secret).toString("hex");
    return { secret, row: { id, ...token, hash, createdAt: now(), grant: token.grant ?? null, usedAt: null } };
  }

  /** Whether a page's token has expired since the call. Other tokens do not expire. */
  function isOver({ page }: Holder): boolean {
    return page !== undefined && page.endsAt <= now();
  }

  /** Ends everything that these tokens hold open. */
  function end(ids: string[]): void {
    for (const id of ids) {
      revocations.get(id)?.abort();
      revocations.delete(id);
    }
  }

  /** Runs beside the call, which does not wait for it. */
  function noteUse({ id, usedAt }: TokenRow, maker?: TokenRow): void {
    const at = now();
    if (noting.has(id) || (usedAt !== null && Math.abs(at - usedAt) < NOTED_EVERY_MS)) return;
    noting.add(id);
    storage.tokens
      .noteUsed(maker ? [id, maker.id] : [id], at)
      .catch(onError)
      .finally(() => noting.delete(id));
  }

  /** A page acts as its maker while the maker's token is valid and its own has not expired. */
  async function pageHolder(row: TokenRow): Promise<Holder | undefined> {
    const { id, name, createdAt } = row;
    const maker = name === null ? undefined : await storage.tokens.get(name);
    if (name !== null && !maker) return undefined;
    const principal: Principal = { ...(maker ? asPrincipal(maker) : OPERATOR), page: id };
    const holder = { principal, page: { id, endsAt: createdAt + WEB_TOKEN_MS } };
    if (isOver(holder)) return undefined;
    noteUse(row, maker);
    return holder;
  }

  async function identify(secret: string): Promise<Holder | undefined> {
    const hash = hashOf(secret);
    if (timingSafeEqual(hash, operatorHash)) return { principal: OPERATOR };
    const id = idIn(secret);
    const row = id === undefined ? undefined : await storage.tokens.get(id);
    if (!row || !timingSafeEqual(hash, Buffer.from(row.hash, "hex"))) return undefined;
    if (row.kind === "web") return pageHolder(row);
    if (row.kind === "named") {
      noteUse(row);
      return { principal: asPrincipal(row) };
    }
    return row.sessionId ? { principal: { kind: "session", sessionId: row.sessionId } } : undefined;
  }

  return {
    /** The holder of a token; `undefined` if the token is not valid. */
    identify,

    /** The owners whose tokens occur in a text, such as the settings of an MCP server. */
    async ownersIn(text: string): Promise<string[]> {
      const found = await Promise.all([...text.matchAll(TOKENS)].map(([secret]) => identify(secret)));
      const holders = found.flatMap((holder) => holder?.principal ?? []);
      if (text.includes(JSON.stringify(operatorToken).slice(1, -1))) holders.push(OPERATOR);
      return [...new Set(holders.filter(({ kind }) => kind !== "session").map(ownerKey))];
    },

    /** With a grant, the token may allow only what the grant covers. */
    async createNamed(name: string, grant?: string[]): Promise<NamedToken & { token: string }> {
      for (const match of grant ?? []) checkGranted(match);
      const { secret, row } = newToken({ kind: "named", name, sessionId: null, grant });
      if (!(await storage.tokens.createIfNameFree(row))) {
        throw new AppError(
          "name_taken",
          `A token named "${name}" exists: choose another name, or revoke that one first.`,
        );
      }
      return { ...asNamed(row), token: secret };
    },

    /**
     * Makes a token for a child of this session; it is valid until the session is deleted. `by`: the caller that gets
     * it, whose own token must not be revoked.
     */
    async createForChild(sessionId: string, by?: Principal): Promise<string> {
      const { secret, row } = newToken({ kind: "child", name: null, sessionId });
      const caller = by && callingToken(by);
      if (await storage.tokens.createIfNameFree(row, caller)) return secret;
      throw caller === undefined ? new Error("two random token ids were equal") : tokenRevoked();
    },

    /**
     * Makes a token for a web page, which acts as the maker of the code. It ends with the maker's token, or expires.
     * `undefined` if the code is not valid.
     */
    async createForWeb(codeHash: string): Promise<{ token: string; expires_at: number } | undefined> {
      const { secret, row } = newToken({ kind: "web", name: null, sessionId: null });
      const ended = await storage.signInCodes.redeem(codeHash, row, MAX_PAGES_OF_ONE, now());
      if (!ended) return undefined;
      end(ended);
      return { token: secret, expires_at: seconds(row.createdAt + WEB_TOKEN_MS) };
    },

    isOver,

    /** Signs one page out. */
    async endWeb(id: string): Promise<void> {
      await storage.tokens.endWeb(id);
      end([id]);
    },

    /** Signs every page out; returns how many there were. */
    async endEveryWeb(): Promise<number> {
      const ids = await storage.tokens.endEveryWeb();
      end(ids);
      return ids.length;
    },

    /** A signal that fires when the holder's token is revoked, to end what it holds open. */
    async revocation({ principal }: Holder): Promise<AbortSignal> {
      const id = callingToken(principal);
      if (id === undefined) return NEVER;
      const known = revocations.get(id) ?? new AbortController();
      // Registered before the read: a revocation that the read does not see yet will abort it.
      revocations.set(id, known);
      if (!(await storage.tokens.get(id))) end([id]);
      return known.signal;
    },

    /** Finds tokens that another server has revoked. */
    async reread(): Promise<void> {
      if (revocations.size > 0) end(await storage.tokens.missing([...revocations.keys()]));
    },

    listNamed: async (): Promise<NamedToken[]> => (await storage.tokens.listNamed()).map(asNamed),

    /** Revokes a named token with its pages and queued turns; its running turns go on. */
    async revoke(name: string): Promise<NamedToken> {
      const row = await storage.tokens.findNamed(name);
      const pages = row && (await storage.tokens.revoke(row.id, ownerKey(asPrincipal(row)), now()));
      if (!pages)
        throw new AppError(
          "not_found",
          (by) => `There is no token named "${name}": list those that there are${by.tokens}.`,
        );
      end([row.id, ...pages]);
      return asNamed(row);
    },
  };
}

/** Finds tokens made by `newToken` in a text. */
const TOKENS = /plx_[A-Za-z0-9-]+_[A-Za-z0-9_-]{43}/g;
const NEVER = new AbortController().signal;
const OPERATOR = { kind: "operator" } as const;

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

function asPrincipal(row: TokenRow): Principal & { kind: "token" } {
  return { kind: "token", id: row.id, name: row.name ?? row.id };
}

function asNamed({ id, name, createdAt, usedAt, grant }: Omit<TokenRow, "hash" | "kind" | "sessionId">): NamedToken {
  return {
    id,
    name: name ?? id,
    created_at: seconds(createdAt),
    last_used_at: usedAt === null ? null : seconds(usedAt),
    ...(grant !== null && { grant }),
  };
}

function checkGranted(match: string): void {
  const read = readMatch(match);
  if ("problem" in read)
    throw new AppError("invalid_arguments", `The grant's pattern ${JSON.stringify(match)} ${read.problem}.`);
}
