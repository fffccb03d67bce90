import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AppError } from "../schema/errors.ts";
import { seconds } from "../schema/values.ts";
import type { Storage } from "../storage/database.ts";
import { ownerKey, type Principal } from "./principals.ts";

export type NamedToken = { id: string; name: string; created_at: number };
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

  async function create(token: { kind: "named" | "child"; name: string | null; sessionId: string | null }) {
    const id = randomBytes(9).toString("base64url").replaceAll("_", "-");
    const secret = `plx_${id}_${newSecret()}`;
    const row = await storage.write(() =>
      storage.tokens.createIfNameFree({ id, ...token, hash: hashOf(secret).toString("hex"), createdAt: now() }),
    );
    return row && { secret, row };
  }

  return {
    /** Who holds this token; `undefined` when it is none of ours. */
    identify(secret: string): Principal | undefined {
      const hash = hashOf(secret);
      if (timingSafeEqual(hash, operatorHash)) return { kind: "operator" };
      const id = /^plx_([A-Za-z0-9-]+)_/.exec(secret)?.[1];
      const row = id && storage.tokens.get(id);
      if (!row || !timingSafeEqual(hash, Buffer.from(row.hash, "hex"))) return undefined;
      if (row.kind === "named") return { kind: "token", id: row.id, name: row.name ?? row.id };
      return row.sessionId ? { kind: "session", sessionId: row.sessionId } : undefined;
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

    /** Aborted when this principal's token is revoked, so that what it holds open ends too. */
    revocation(principal: Principal): AbortSignal {
      if (principal.kind !== "token") return NEVER;
      if (!storage.tokens.get(principal.id)) return AbortSignal.abort();
      const known = revocations.get(principal.id) ?? new AbortController();
      revocations.set(principal.id, known);
      return known.signal;
    },

    listNamed: (): NamedToken[] => storage.tokens.listNamed().map(asNamed),

    async revoke(name: string): Promise<NamedToken> {
      const row = await storage.write(() => {
        const removed = storage.tokens.removeNamed(name);
        if (removed) storage.mcpClients.removeOwned(ownerKey({ kind: "token", id: removed.id, name }));
        return removed;
      });
      if (!row) throw new AppError("not_found", `There is no token named "${name}": see \`plexus token list\`.`);
      revocations.get(row.id)?.abort();
      revocations.delete(row.id);
      return asNamed(row);
    },
  };
}

const NEVER = new AbortController().signal;

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function asNamed(row: { id: string; name: string | null; createdAt: number }): NamedToken {
  return { id: row.id, name: row.name ?? row.id, created_at: seconds(row.createdAt) };
}
