import type { ConversationStorage, SessionRow, SessionSize, SessionStorage } from "../../sessions.ts";
import { translated } from "../reads.ts";
import { createTally } from "../tally.ts";
import type { TurnQueries } from "../turns/turns.ts";
import type { Write } from "../writer.ts";
import type { NodeQueries } from "./nodes.ts";
import type { SessionQueries } from "./sessions.ts";

type SessionCommandsNeed = { write: Write; sessions: SessionQueries; nodes: NodeQueries; turns: TurnQueries };
type SessionCommands = Pick<SessionStorage, "createIfNameFree" | "removeTurnsIfIdle" | "removeIfIdle">;

export function sessionCommands({ write, sessions, nodes, turns }: SessionCommandsNeed): SessionCommands {
  const tally = createTally(sessions.sizeOf);

  /** Takes one more session of its owner into account, called in its transaction; tells what there is where that is too much. */
  function admit({ owner, config }: SessionRow, most: SessionSize): SessionSize | undefined {
    const bytes = config === null ? 0 : Buffer.byteLength(JSON.stringify(config));
    const isOver = (size: SessionSize) => size.count + 1 > most.count || size.bytes + bytes > most.bytes;
    if (isOver(tally.atMost(owner)) && isOver(tally.counted(owner))) return tally.counted(owner);
    tally.add(owner, bytes);
    return undefined;
  }

  return {
    createIfNameFree: (session, tree, most) =>
      write(() => {
        if (sessions.isNameTaken(session.owner, session.name)) return { outcome: "name_taken" } as const;
        const size = admit(session, most);
        if (size) return { outcome: "too_many", size } as const;
        sessions.create(session);
        const { treeId, headNodeId: id, createdAt } = session;
        if (tree === "new" && treeId && id)
          nodes.add({ id, treeId, parentId: null, role: "root", content: {}, createdAt });
        return { outcome: "created", session } as const;
      }).catch((cause) => {
        tally.loosen();
        throw cause;
      }),
    removeTurnsIfIdle: (id, limit) => write(() => (turns.isBusy(id) ? undefined : turns.removeEndedOf(id, limit))),
    removeIfIdle: (id) =>
      write(() => {
        if (turns.isBusy(id)) return false;
        sessions.remove(id);
        tally.loosen();
        return true;
      }),
  };
}

export function conversationCommands({
  write,
  sessions,
  nodes,
}: Pick<SessionCommandsNeed, "write" | "sessions" | "nodes">): Pick<ConversationStorage, "removeSomeIfUnused"> {
  const isUsed = (treeId: string) => sessions.countOnTree(treeId) > 0;
  return {
    // Looked for outside of any transaction too: nearly always it is in use.
    removeSomeIfUnused: async (treeId, limit) =>
      translated(() => isUsed(treeId)) ? 0 : write(() => (isUsed(treeId) ? 0 : nodes.removeSome(treeId, limit))),
  };
}
