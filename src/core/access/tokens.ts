import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../../contract/errors.ts";
import { seconds } from "../../contract/values.ts";
import type { TokenRow } from "../../storage/sqlite/access/tokens.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import { endIfQueued } from "../turns/queue/queued-end.ts";
import { type Decider, ownerKey, type Principal, tokenIdIn } from "./principals.ts";

export type NamedToken = { id: string; name: string; created_at: number };
/** How long a person stays signed in on the web page. */
export const WEB_TOKEN_MS = 30 * 24 * 60 * 60 * 1000;
/** More than one person has open: the page that signed in first is signed out. */
const MAX_PAGES_OF_ONE = 100;

/** Who calls with a token. That of a page acts for whoever made it, and ends by itself. */
export type Holder = { principal: Principal; page?: { id: string; endsAt: number } };

export type Tokens = ReturnType<typeof createTokens>;

/** Tokens say who is calling: random, stored as a hash, looked up by their public half, compared in constant time. */
export function createTokens({
  storage,
  operatorToken,
  now,
}: {
  storage: Storage;
  operatorToken: string;
  now: () => number;
}) {
  const operatorHash = hashOf(operatorToken);
  const revocations = new Map<string, AbortController>();

  async function create(token: { kind: TokenRow["kind"]; name: string | null; sessionId: string | null }) {
    const id = randomBytes(9).toString("base64url").replaceAll("_", "-");
    const secret = `plx_${id}_${newSecret()}`;
    const row = await storage.write(() =>
      storage.tokens.createIfNameFree({ id, ...token, hash: hashOf(secret).toString("hex"), createdAt: now() }),
    );
    return row && { secret, row };
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

  /** Whoever made it, for as long as that one may call and the time is not up. */
  function pageHolder({ id, name, createdAt }: TokenRow): Holder | undefined {
    const maker = name === null ? undefined : storage.tokens.get(name);
    if (name !== null && !maker) return undefined;
    const principal: Principal = maker ? asPrincipal(maker) : { kind: "operator" };
    const holder = { principal, page: { id, endsAt: createdAt + WEB_TOKEN_MS } };
    return isOver(holder) ? undefined : holder;
  }

  function identify(secret: string): Holder | undefined {
    const hash = hashOf(secret);
    if (timingSafeEqual(hash, operatorHash)) return { principal: { kind: "operator" } };
    const id = idIn(secret);
    const row = id && storage.tokens.get(id);
    if (!row || !timingSafeEqual(hash, Buffer.from(row.hash, "hex"))) return undefined;
    if (row.kind === "named") return { principal: asPrincipal(row) };
    if (row.kind === "web") return pageHolder(row);
    return row.sessionId ? { principal: { kind: "session", sessionId: row.sessionId } } : undefined;
  }

  return {
    /** Who holds this token; `undefined` when it is none of ours. */
    identify,

    /** The owners whose tokens stand in this text, such as the settings of an MCP server. */
    ownersIn(text: string): string[] {
      const holders = [...text.matchAll(TOKENS)].flatMap(([secret]) => identify(secret)?.principal ?? []);
      if (text.includes(JSON.stringify(operatorToken).slice(1, -1))) holders.push({ kind: "operator" });
      return [...new Set(holders.filter(({ kind }) => kind !== "session").map(ownerKey))];
    },

    async createNamed(name: string): Promise<NamedToken & { token: string }> {
      const created = await create({ kind: "named", name, sessionId: null });
      if (!created) {
        throw new AppError(
          "name_taken",
          `A token named "${name}" exists: choose another name, or revoke that one first.`,
        );
      }
      return { ...asNamed(created.row), token: created.secret };
    },

    /** A token for a child of this session; it lives until the session is deleted. */
    async createForChild(sessionId: string): Promise<string> {
      const created = await create({ kind: "child", name: null, sessionId });
      if (!created) throw new Error("two random token ids were equal");
      return created.secret;
    },

    /** A token for the web page of this principal; it ends with the named token that it acts as, or by itself. */
    async createForWeb(maker: Decider): Promise<{ token: string; expires_at: number }> {
      const name = maker.kind === "token" ? maker.id : null;
      const created = await create({ kind: "web", name, sessionId: null });
      if (!created) throw new Error("two random token ids were equal");
      end(await storage.write(() => storage.tokens.removeOlderWebOf(name, MAX_PAGES_OF_ONE)));
      return { token: created.secret, expires_at: seconds(created.row.createdAt + WEB_TOKEN_MS) };
    },

    isOver,

    /** Ends the token of a page. */
    async endWeb(id: string): Promise<void> {
      await storage.write(() => storage.tokens.removeWeb(id));
      end([id]);
    },

    /** Ends every web token, whoever made it; tells how many there were. */
    async endEveryWeb(): Promise<number> {
      const ids = await storage.write(storage.tokens.removeEveryWeb);
      end(ids);
      return ids.length;
    },

    /** Aborted when the token that this one calls with is revoked, so that what it holds open ends too. */
    revocation({ principal, page }: Holder): AbortSignal {
      const id = page?.id ?? (principal.kind === "token" ? principal.id : undefined);
      if (id === undefined) return NEVER;
      if (!storage.tokens.get(id)) return AbortSignal.abort();
      const known = revocations.get(id) ?? new AbortController();
      revocations.set(id, known);
      return known.signal;
    },

    listNamed: (): NamedToken[] => storage.tokens.listNamed().map(asNamed),

    /** Ends a named token, its pages, and its turns that are queued; those that run go on. */
    async revoke(name: string): Promise<NamedToken> {
      const removed = await storage.write((announce) => {
        const row = storage.tokens.removeNamed(name);
        if (!row) return undefined;
        const owner = ownerKey({ kind: "token", id: row.id, name });
        storage.mcpClients.removeOwned(owner);
        for (const id of storage.turns.queuedIdsOf(owner))
          endIfQueued(storage, announce, id, { status: "cancelled", error: REVOKED_WHILE_QUEUED }, now());
        return { row, pages: storage.tokens.removeWebOf(row.id) };
      });
      if (!removed) throw new AppError("not_found", `There is no token named "${name}": see \`plexus token list\`.`);
      end([removed.row.id, ...removed.pages]);
      return asNamed(removed.row);
    },
  };
}

export const REVOKED_WHILE_QUEUED = "The token that this turn belongs to was revoked while it was queued.";

/** Whether this owner was a named token that is no more; the operator is never revoked. */
export function isRevoked({ tokens }: Pick<Storage, "tokens">, owner: string): boolean {
  const id = tokenIdIn(owner);
  return id !== undefined && tokens.get(id) === undefined;
}

/** Tokens as `create` makes them, wherever they stand. */
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
