import { AppError, tokenRevoked } from "../../contract/refusals/errors.ts";
import type { Ways } from "../../contract/refusals/ways.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import { similarName } from "../../contract/text/similar-name.ts";
import type { NewRule } from "../../storage/rules.ts";
import type { FirstRules, SessionRow } from "../../storage/sessions.ts";
import type { Storage } from "../../storage/storage.ts";
import { callingToken, mayDecide, ownerKey, type Principal, visibleOwner } from "../access/principals.ts";
import { MOST_RULES, tooManyRules } from "../rulebook/rules.ts";
import { checkSize, MOST_SESSIONS, tooManySessions } from "./bounds.ts";

export type Session = SessionRow;
export type Sessions = ReturnType<typeof createSessions>;

const BATCH = 500;
/** How many names an error lists, and how many of the newest sessions it compares. */
const MAX_NAMED = 5;
const MAX_COMPARED = 200;
/** The fields of a session without settings or conversation. */
export const NO_CONVERSATION = {
  config: null,
  nextConfig: null,
  claudeSessionId: null,
  totalCostUsd: 0,
  ownCostUsd: 0,
  forkedFrom: null,
  originId: null,
  treeId: null,
  headNodeId: null,
  serversFrom: null,
  seenAt: null,
};

/** Makes the first rules of a session, once its id is known. */
export type RulesFor = (session: Session) => NewRule[];

type SessionsNeed = { storage: Pick<Storage, "sessions" | "conversations" | "newId">; now: () => number };

export function createSessions({ storage, now }: SessionsNeed) {
  /** Creates a session for a claude that is started by hand. A name in use is an error; it is never changed. */
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
      seenAt: now(),
    };
    return insert(creator, session, "none");
  }

  /** Creates a session whose children Plexus starts. */
  async function createManaged(
    creator: Principal,
    name: string,
    config: SessionConfig,
    rulesFor: RulesFor,
  ): Promise<Session> {
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
    return insert(creator, session, "new", { rules: rulesFor(session), most: MOST_RULES });
  }

  /** Creates a session that continues the parent's conversation; the parent stays as it is. */
  async function fork(creator: Principal, parent: Session, name: string): Promise<Session> {
    if (parent.kind === "by_hand")
      throw new AppError(
        "invalid_arguments",
        (by) =>
          `Session "${parent.name}" is for a claude that is started by hand, and has no conversation to fork: create another${by.create}.`,
      );
    const session: Session = {
      ...parent,
      id: storage.newId(),
      name,
      owner: ownerKey(creator),
      createdAt: now(),
      config: parent.nextConfig ?? parent.config,
      nextConfig: null,
      claudeSessionId: null,
      ownCostUsd: 0,
      forkedFrom: parent.claudeSessionId ?? parent.forkedFrom,
      originId: parent.id,
      serversFrom: parent.serversFrom ?? parent.owner,
    };
    return insert(creator, session, "shared", { rules: [], most: MOST_RULES, boundLike: parent.id });
  }

  /** Returns false if a turn is running or queued in the session. */
  async function removeIfIdle(principal: Principal, { id, treeId }: Session): Promise<boolean> {
    const by = callingToken(principal);
    // In steps, so that decisions can be committed in between.
    for (let removed = 1; removed > 0; ) {
      const some = await storage.sessions.removeTurnsIfIdle(id, BATCH, by);
      if (some === "busy") return false;
      if (some === "revoked") throw tokenRevoked();
      removed = some;
    }
    const outcome = await storage.sessions.removeIfIdle(id, by);
    if (outcome === "revoked") throw tokenRevoked();
    if (outcome === "busy") return false;
    if (treeId) await forgetTreeIfUnused(storage, treeId);
    return true;
  }

  async function insert(
    creator: Principal,
    session: Session,
    tree: "new" | "shared" | "none",
    first?: FirstRules,
  ): Promise<Session> {
    const by = callingToken(creator);
    const created = await storage.sessions.createIfNameFree(session, tree, MOST_SESSIONS, by, first);
    switch (created.outcome) {
      case "revoked":
        throw tokenRevoked();
      case "created":
        return created.session;
      case "too_many":
        throw tooManySessions(created.size, MOST_SESSIONS);
      case "too_many_rules":
        throw tooManyRules();
      case "name_taken":
        throw new AppError(
          "name_taken",
          (by) => `You have a session named "${session.name}": choose another name, or use that one${by.use}.`,
        );
    }
  }

  /** Sets the settings from the next turn on; `undefined` if another call changed them since they were read. */
  async function updateIfUnchanged(
    principal: Principal,
    { id, name, config, nextConfig }: Session,
    to: SessionConfig,
    serversFrom: string | null,
    rules: NewRule[] | undefined,
  ): Promise<Session | undefined> {
    checkSize(to);
    const from = nextConfig ?? config;
    if (!from) throw new AppError("invalid_arguments", `Session "${name}" has no settings that could be changed.`);
    const change = {
      from,
      to,
      serversFrom,
      rules: rules && { rules, most: MOST_RULES, madeBy: visibleOwner(principal) },
    };
    const updated = await storage.sessions.updateIfUnchanged(id, change, MOST_SESSIONS, callingToken(principal));
    switch (updated.outcome) {
      case "revoked":
        throw tokenRevoked();
      case "updated":
        return updated.session;
      case "changed":
        return undefined;
      case "no_session":
        throw new AppError("not_found", `Session "${name}" was deleted.`);
      case "too_many":
        throw tooManySessions(updated.size, MOST_SESSIONS);
      case "too_many_rules":
        throw tooManyRules();
    }
  }

  /** Finds a session that the caller may see, by id or by the caller's name for it; else throws `not_found`. */
  async function require(principal: Principal, key: string): Promise<Session> {
    const session = await storage.sessions.find(ownerKey(principal), key);
    if (session && mayDecide(principal, session.owner)) return session;
    const owned = await own(principal, key);
    throw new AppError("not_found", (by) => `There is no session "${key}". ${owned(by)}`);
  }

  /** Words for an error: the caller's sessions, with the most similar name first. */
  async function own(principal: Principal, key: string): Promise<(by: Ways) => string> {
    const names = await storage.sessions.names(ownerKey(principal), MAX_COMPARED);
    const nearest = similarName(key, names);
    const ordered = nearest === undefined ? names : [nearest, ...names.filter((name) => name !== nearest)];
    const named = ordered.slice(0, MAX_NAMED).map((name) => `"${name}"`);
    if (named.length === 0) return (by) => `You have none: start one${by.run}.`;
    return (by) => `You have: ${named.join(", ")}${names.length > MAX_NAMED ? `, and others${by.sessions}` : ""}.`;
  }

  return {
    createByHand,
    createManaged,
    fork,
    updateIfUnchanged,
    removeIfIdle,
    require,
    /** The caller's session of this name. */
    named: (principal: Principal, name: string): Promise<Session | undefined> =>
      storage.sessions.named(ownerKey(principal), name),
    get: (id: string): Promise<Session | undefined> => storage.sessions.get(id),
    /** Notes that another claude may be started in this session by hand. */
    noteConfigured: ({ id }: Session): Promise<void> => storage.sessions.noteSeen(id, now()),
    /** The creator's session of this id or name, created if there is none. */
    async openByHand(creator: Principal, key: string): Promise<Session> {
      const found = await storage.sessions.find(ownerKey(creator), key);
      if (found) return found;
      try {
        return await createByHand(creator, key);
      } catch (cause) {
        if (!isNameTaken(cause)) throw cause;
        const winner = await storage.sessions.find(ownerKey(creator), key);
        if (winner) return winner;
        throw cause;
      }
    },
  };
}

export function isNameTaken(cause: unknown): boolean {
  return cause instanceof AppError && cause.code === "name_taken";
}

/** Deletes a conversation once no session, nor a fork, continues it. */
export async function forgetTreeIfUnused(storage: Pick<Storage, "conversations">, treeId: string): Promise<void> {
  while ((await storage.conversations.removeSomeIfUnused(treeId, BATCH)) > 0);
}
