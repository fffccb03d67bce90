import { AppError } from "../../contract/errors.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { SessionRow } from "../../storage/sqlite/sessions/sessions.ts";
import { mayDecide, ownerKey, type Principal } from "../access/principals.ts";
import { checkSize, createSessionBounds } from "./bounds.ts";

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

export function createSessions({ storage, now }: { storage: Storage; now: () => number }) {
  const bounds = createSessionBounds(storage);

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
    return insert(session);
  }

  /** A new session whose children Plexus starts. */
  async function createManaged(creator: Principal, name: string, config: SessionConfig): Promise<Session> {
    checkSize(config);
    const root = { id: storage.newId(), treeId: storage.newId(), parentId: null, content: {}, createdAt: now() };
    const session: Session = {
      id: storage.newId(),
      name,
      owner: ownerKey(creator),
      kind: "managed",
      loopbackTimeoutSecs: config.loopback_timeout_secs,
      createdAt: now(),
      ...NO_CONVERSATION,
      config,
      treeId: root.treeId,
      headNodeId: root.id,
    };
    return insert(session, () => storage.nodes.add({ ...root, role: "root" }));
  }

  /** A new session that goes on from where this one stands, and leaves it as it is. */
  async function fork(creator: Principal, parent: Session, name: string): Promise<Session> {
    if (parent.kind === "by_hand")
      throw new AppError("invalid_arguments", `Session "${parent.name}" is a claude started by hand.`);
    return insert({
      ...parent,
      id: storage.newId(),
      name,
      owner: ownerKey(creator),
      createdAt: now(),
      claudeSessionId: null,
      forkedFrom: parent.claudeSessionId ?? parent.forkedFrom,
      serversFrom: parent.serversFrom ?? parent.owner,
    });
  }

  /** `false` when a turn runs in it, whose child would be nobody's, or is queued. */
  async function removeIfIdle(session: Session): Promise<boolean> {
    const { id, treeId } = session;
    if (storage.turns.isBusy(id)) return false;
    // In steps, so that decisions get their turn in between.
    while ((await storage.write(() => storage.turns.removeEndedOf(id, BATCH))) > 0);
    const isRemoved = await storage.write(() => {
      if (storage.turns.isBusy(id)) return false;
      storage.sessions.remove(id);
      return true;
    });
    if (!isRemoved) return false;
    bounds.loosen();
    if (treeId) await forgetTreeIfUnused(storage, treeId);
    return true;
  }

  async function insert(session: Session, onInserted: () => void = () => {}): Promise<Session> {
    let isAdmitted = false;
    const work = () => {
      const row = storage.sessions.createIfNameFree(session);
      if (!row) return undefined;
      bounds.admit(row);
      isAdmitted = true;
      onInserted();
      return row;
    };
    const created = await storage.write(work).catch((cause) => {
      if (isAdmitted) bounds.loosen();
      throw cause;
    });
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
    fork,
    removeIfIdle,
    require,
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

/** What was said is kept for as long as a session, or a fork of it, goes on from there. */
export async function forgetTreeIfUnused(storage: Storage, treeId: string): Promise<void> {
  const forgetSome = () => (storage.sessions.countOnTree(treeId) > 0 ? 0 : storage.nodes.removeSome(treeId, BATCH));
  while ((await storage.write(forgetSome)) > 0);
}
