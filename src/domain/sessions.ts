import { AppError } from "../schema/errors.ts";
import type { SessionConfig } from "../schema/session.ts";
import type { Storage } from "../storage/database.ts";
import type { SessionRow } from "../storage/sessions.ts";
import { mayDecide, ownerKey, type Principal, visibleOwner } from "./principals.ts";

export type Session = SessionRow;
export type Sessions = ReturnType<typeof createSessions>;

const NO_CONVERSATION = { config: null, claudeSessionId: null, totalCostUsd: 0 };

export function createSessions({ storage, now }: { storage: Storage; now: () => number }) {
  /** A new session for a claude that somebody starts by hand; a name in use is refused, never changed. */
  async function createByHand(creator: Principal, name?: string): Promise<Session> {
    const id = Bun.randomUUIDv7();
    const session: Session = {
      id,
      name: name ?? `by-hand-${id.slice(-8)}`,
      owner: ownerKey(creator),
      kind: "by_hand",
      loopbackTimeoutSecs: null,
      createdAt: now(),
      ...NO_CONVERSATION,
    };
    return insert(session);
  }

  /** A new session whose children Plexus starts. */
  async function createManaged(creator: Principal, name: string, config: SessionConfig): Promise<Session> {
    return insert({
      id: Bun.randomUUIDv7(),
      name,
      owner: ownerKey(creator),
      kind: "managed",
      loopbackTimeoutSecs: config.loopback_timeout_secs,
      createdAt: now(),
      ...NO_CONVERSATION,
      config,
    });
  }

  async function insert(session: Session): Promise<Session> {
    const created = await storage.write(() => storage.sessions.createIfNameFree(session));
    if (created) return created;
    throw new AppError(
      "name_taken",
      `You have a session named "${session.name}": choose another name, or pass its session_id.`,
    );
  }

  /** A session that the caller may see, by its id or by the name the caller gave it. */
  function require(principal: Principal, key: string): Session {
    const session = storage.sessions.find(ownerKey(principal), key);
    if (session && mayDecide(principal, session.owner)) return session;
    throw new AppError("not_found", `There is no session "${key}".`);
  }

  return {
    createByHand,
    createManaged,
    require,
    /** What the caller may see, newest first. */
    list: (principal: Principal, limit: number): Session[] => storage.sessions.list(visibleOwner(principal), limit),
    remove: (id: string): Promise<void> => storage.write(() => storage.sessions.remove(id)),
    get: (id: string): Session | undefined => storage.sessions.get(id),
    /** The operator's session of this id or name, made if there is none. */
    async openByHand(creator: Principal, key: string): Promise<Session> {
      const found = storage.sessions.find(ownerKey(creator), key);
      if (found) return found;
      try {
        return await createByHand(creator, key);
      } catch (cause) {
        const winner =
          cause instanceof AppError && cause.code === "name_taken" && storage.sessions.find(ownerKey(creator), key);
        if (winner) return winner;
        throw cause;
      }
    },
  };
}
