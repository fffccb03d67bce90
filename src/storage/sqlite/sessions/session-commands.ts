import type { SessionConfig } from "../../../contract/sessions/session.ts";
import type { ConversationStorage, SessionSize, SessionStorage } from "../../sessions.ts";
import type { TokenQueries } from "../access/tokens.ts";
import { addRules, isRoomFor } from "../rules/rule-commands.ts";
import type { RuleQueries } from "../rules/rules.ts";
import { translated } from "../statements/reads.ts";
import { createTally } from "../tally.ts";
import type { TurnQueries } from "../turns/turns.ts";
import type { Write } from "../writer.ts";
import type { NodeQueries } from "./nodes.ts";
import type { SessionQueries } from "./sessions.ts";

type SessionCommandsNeed = {
  write: Write;
  sessions: SessionQueries;
  nodes: NodeQueries;
  turns: TurnQueries;
  rules: RuleQueries;
  newId: () => string;
  tokens: TokenQueries;
};
type SessionCommands = Pick<
  SessionStorage,
  "createIfNameFree" | "updateIfUnchanged" | "noteSeen" | "removeTurnsIfIdle" | "removeIfIdle"
>;

export function sessionCommands(need: SessionCommandsNeed): SessionCommands {
  const { write, sessions, nodes, turns, tokens, rules, newId } = need;
  const tally = createTally(sessions.sizeOf);

  /**
   * Counts an owner's additional sessions or settings, inside their transaction; returns the present size if the limit
   * would be exceeded.
   */
  function admit(owner: string, more: SessionSize, most: SessionSize): SessionSize | undefined {
    const isOver = (size: SessionSize) => size.count + more.count > most.count || size.bytes + more.bytes > most.bytes;
    if (isOver(tally.atMost(owner)) && isOver(tally.counted(owner))) return tally.counted(owner);
    tally.add(owner, more.bytes, more.count);
    return undefined;
  }

  /** Call when what `admit` counted was not stored. */
  function loosen(cause: unknown): never {
    tally.loosen();
    throw cause;
  }

  return {
    createIfNameFree: (session, tree, most, by, first) =>
      write(() => {
        if (tokens.isRevoked(by)) return { outcome: "revoked" } as const;
        if (sessions.named(session.owner, session.name)) return { outcome: "name_taken" } as const;
        const inherited = first?.boundLike === undefined ? [] : rules.inheritedFrom(first.boundLike, session.owner);
        const own = [
          ...(first?.rules ?? []),
          ...inherited.map((rule) => ({ ...rule, id: newId(), sessionId: session.id, owner: session.owner })),
        ];
        if (first && !isRoomFor(rules, own, first.most)) return { outcome: "too_many_rules" } as const;
        const size = admit(session.owner, { count: 1, bytes: bytesOf(session.config) }, most);
        if (size) return { outcome: "too_many", size } as const;
        sessions.create(session);
        addRules(rules, own);
        const { treeId, headNodeId: id, createdAt } = session;
        if (tree === "new" && treeId && id)
          nodes.add({ id, treeId, parentId: null, role: "root", content: {}, createdAt });
        return { outcome: "created", session } as const;
      }).catch(loosen),
    updateIfUnchanged: (id, { from, to, serversFrom, rules: replaced }, most, by) =>
      write(() => {
        if (tokens.isRevoked(by)) return { outcome: "revoked" } as const;
        const session = sessions.get(id);
        if (!session) return { outcome: "no_session" } as const;
        const { config, nextConfig } = session;
        if (JSON.stringify(nextConfig ?? config) !== JSON.stringify(from)) return { outcome: "changed" } as const;
        if (replaced && !isRoomFor(rules, replaced.rules, replaced.most)) return { outcome: "too_many_rules" } as const;
        const isRunning = turns.running(id) !== undefined;
        const settings = isRunning ? { config, nextConfig: to } : { config: to, nextConfig: null };
        const before = bytesOf(config) + bytesOf(nextConfig);
        const bytes = bytesOf(settings.config) + bytesOf(settings.nextConfig) - before;
        const size = bytes > 0 ? admit(session.owner, { count: 0, bytes }, most) : undefined;
        if (size) return { outcome: "too_many", size } as const;
        if (bytes < 0) tally.loosen();
        const updated = { ...settings, loopbackTimeoutSecs: to.loopback_timeout_secs, serversFrom };
        sessions.set(id, updated);
        if (replaced) {
          rules.removeSettingsOf(id, replaced.madeBy);
          addRules(rules, replaced.rules);
          rules.changed();
        }
        return { outcome: "updated", session: { ...session, ...updated } } as const;
      }).catch(loosen),
    noteSeen: (id, now) => write(() => sessions.noteSeen(id, now)),
    removeTurnsIfIdle: (id, limit, by) =>
      write(() => {
        if (tokens.isRevoked(by)) return "revoked";
        return turns.isBusy(id) ? "busy" : turns.removeEndedOf(id, limit);
      }),
    removeIfIdle: (id, by) =>
      write(() => {
        if (tokens.isRevoked(by)) return "revoked";
        if (turns.isBusy(id)) return "busy";
        // The foreign key deletes the session's rules too.
        if (rules.isAnyOf(id)) rules.changed();
        sessions.remove(id);
        tokens.forget();
        tally.loosen();
        return "removed";
      }),
  };
}

export function conversationCommands({
  write,
  sessions,
  nodes,
}: Pick<SessionCommandsNeed, "write" | "sessions" | "nodes">): Pick<ConversationStorage, "removeSomeIfUnused"> {
  return {
    // Check first without a transaction: nearly always the tree is in use.
    removeSomeIfUnused: async (treeId, limit) =>
      translated(() => sessions.isTreeUsed(treeId))
        ? 0
        : write(() => (sessions.isTreeUsed(treeId) ? 0 : nodes.removeSome(treeId, limit))),
  };
}

function bytesOf(config: SessionConfig | null): number {
  return config === null ? 0 : Buffer.byteLength(JSON.stringify(config));
}
