import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import type { Storage } from "../../../src/storage/sqlite/database.ts";
import { newApproval, newSession, outcome } from "../../storage/rows.ts";

type Given = { sessionId: string; at: number; owner?: string; events?: number; chars?: number };

/** Stores a session whose conversation has so many nodes. */
export async function storeSession(storage: Storage, name: string, nodes = 1): Promise<string> {
  const session = newSession({ name, kind: "managed", treeId: `tree-of-${name}`, headNodeId: `${name}-0` });
  await storage.write(() => {
    storage.sessions.createIfNameFree(session);
    for (let number = 0; number < nodes; number++) {
      const node = { id: `${name}-${number}`, treeId: `tree-of-${name}`, parentId: null, content: {}, createdAt: 1 };
      storage.nodes.add({ ...node, role: "user" });
    }
  });
  return session.id;
}

/** Stores a turn that runs. */
export async function storeRunning(
  storage: Storage,
  { sessionId, at, owner = "operator", events = 3, chars = 10 }: Given,
): Promise<string> {
  const id = Bun.randomUUIDv7();
  const told: TurnEvent[] = Array.from({ length: events }, () => ({ type: "content", text: "x".repeat(chars) }));
  await storage.write(() => {
    const turn = { id, sessionId, owner, ephemeral: false, startedAt: at, reading: { offset: 0 } };
    storage.turns.createIfNoneRuns(turn);
    storage.turns.appendIfRunning(id, told);
    storage.turns.advance(id, "reader", 1);
  });
  return id;
}

/** Stores a turn that has ended. */
export async function storeEnded(storage: Storage, given: Given): Promise<string> {
  const id = await storeRunning(storage, given);
  const end = { status: "complete", error: null, usage: null, endedAt: given.at } as const;
  await storage.write(() => storage.turns.endIfRunning(id, end));
  return id;
}

/** Stores a decided approval with an input of so many characters. */
export async function storeDecided(storage: Storage, { sessionId, at, chars = 10 }: Given): Promise<string> {
  const approval = newApproval({ sessionId, input: { command: "x".repeat(chars) } });
  await storage.write(() => {
    storage.approvals.create(approval);
    storage.approvals.settleIfPending(approval.id, outcome({ resolvedAt: at }));
  });
  return approval.id;
}
