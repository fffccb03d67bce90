import { AppError } from "../../contract/errors.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import type { SessionRow } from "../../storage/sessions.ts";
import type { Storage } from "../../storage/storage.ts";
import { mayDecide, ownerKey, type Principal } from "../access/principals.ts";
import { checkSize, MOST_SESSIONS, tooManySessions } from "./bounds.ts";

export type Session = SessionRow;
export type Sessions = ReturnType<typeof createSessions>;

const BATCH = 500;
const NO_CONVERSATION = {
  config: null,
  claudeSessionId: null,
  totalCostUsd: 0,
  forkedFrom: null,
  treeId: null,
  headNodeId: null,
  serversFrom: null,
};

type SessionsNeed = { storage: Pick<Storage, "sessions" | "conversations" | "newId">; now: () => number };

export function createSessions({ storage, now }: SessionsNeed) {
  /** A new session for a claude that somebody starts by hand; a name in use is refused, never changed. */
  async function createByHand(creator: Principal, name?: string, config?: SessionConfig): Promise<Session> {
    if (config) checkSize(config);
    const id = storage.newId();
    const session: Session = {
      id,
      name: name ?? `by-hand-${id.slice(-8)}`,
      owner: ownerKey(creator),
      kind: "by_hand",
      loopbackTimeoutSecs: null,
      createdAt: now(),
      ...NO_CONVERSATION,
      config: config ?? null,
    };
    return insert(session, "none");
  }

  /** A new session whose children Plexus starts. */
  async function createManaged(creator: Principal, name: string, config: SessionConfig): Promise<Session> {
    checkSize(config);
    const [headNodeId, treeId] = [storage.newId(), storage.newId()];
    const session: Session = {
      id: storage.newId(),
      name,
      owner: ownerKey(creator),
      kind: "managed",
      loopbackTimeoutSecs: config.loopback_timeout_secs,
      createdAt: now(),
      ...NO_CONVERSATION,
      config,
      treeId,
      headNodeId,
    };
    return insert(session, "new");
  }

  /** A new session that goes on from where this one stands, and leaves it as it is. */
  async function fork(creator: Principal, parent: Session, name: string): Promise<Session> {
    if (parent.kind === "by_hand")
      throw new AppError("invalid_arguments", `Session "${parent.name}" is a claude started by hand.`);
    const session: Session = {
      ...parent,
      id: storage.newId(),
      name,
      owner: ownerKey(creator),
      createdAt: now(),
      claudeSessionId: null,
      forkedFrom: parent.claudeSessionId ?? parent.forkedFrom,
      serversFrom: parent.serversFrom ?? parent.owner,
    };
    return insert(session, "shared");
  }

  /** `false` when a turn runs in it, whose child would be nobody's, or is queued. */
  async function removeIfIdle(session: Session): Promise<boolean> {
    const { id, treeId } = session;
    // In steps, so that decisions get their turn in between.
    for (let removed = 1; removed > 0; ) {
      const some = await storage.sessions.removeTurnsIfIdle(id, BATCH);
      if (some === undefined) return false;
      removed = some;
    }
    if (!(await storage.sessions.removeIfIdle(id))) return false;
    if (treeId) await forgetTreeIfUnused(storage, treeId);
    return true;
  }

  async function insert(session: Session, tree: "new" | "shared" | "none"): Promise<Session> {
    const created = await storage.sessions.createIfNameFree(session, tree, MOST_SESSIONS);
    switch (created.outcome) {
      case "created":
        return created.session;
      case "too_many":
        throw tooManySessions(created.size, MOST_SESSIONS);
      case "name_taken":
        throw new AppError(
          "name_taken",
          `You have a session named "${session.name}": choose another name, or pass its session_id.`,
        );
    }
  }

  /** A session that the caller may see, by its id or by the name the caller gave it. */
  async function require(principal: Principal, key: string): Promise<Session> {
    const session = await storage.sessions.find(ownerKey(principal), key);
    if (session && mayDecide(principal, session.owner)) return session;
    throw new AppError("not_found", `There is no session "${key}".`);
  }

  return {
    createByHand,
    createManaged,
    fork,
    removeIfIdle,
    require,
    get: (id: string): Promise<Session | undefined> => storage.sessions.get(id),
    /** The operator's session of this id or name, made if there is none. */
    async openByHand(creator: Principal, key: string): Promise<Session> {
      const found = await storage.sessions.find(ownerKey(creator), key);
      if (found) return found;
      try {
        return await createByHand(creator, key);
      } catch (cause) {
        if (!(cause instanceof AppError && cause.code === "name_taken")) throw cause;
        const winner = await storage.sessions.find(ownerKey(creator), key);
        if (winner) return winner;
        throw cause;
      }
    },
  };
}

/** What was said is kept for as long as a session, or a fork of it, goes on from there. */
export async function forgetTreeIfUnused(storage: Pick<Storage, "conversations">, treeId: string): Promise<void> {
  while ((await storage.conversations.removeSomeIfUnused(treeId, BATCH)) > 0);
}
