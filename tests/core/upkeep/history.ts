import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { newApproval, newSession } from "../../storage/rows.ts";
import type { Direct } from "../../storage/sqlite/support/direct.ts";
import { unchainedOutcome } from "../../storage/sqlite/support/sqlite-rows.ts";

type Given = { sessionId: string; at: number; owner?: string; events?: number; chars?: number };

/** Stores a session whose conversation has so many nodes. */
export async function storeSession(direct: Direct, name: string, nodes = 1): Promise<string> {
  const session = newSession({ name, kind: "managed", treeId: `tree-of-${name}`, headNodeId: `${name}-0` });
  direct.write(() => {
    direct.sessions.create(session);
    for (let number = 0; number < nodes; number++) {
      const node = { id: `${name}-${number}`, treeId: `tree-of-${name}`, parentId: null, content: {}, createdAt: 1 };
      direct.nodes.add({ ...node, role: "user" });
    }
  });
  return session.id;
}

/** Stores a running turn. */
export async function storeRunning(
  direct: Direct,
  { sessionId, at, owner = "operator", events = 3, chars = 10 }: Given,
): Promise<string> {
  const id = Bun.randomUUIDv7();
  const told: TurnEvent[] = Array.from({ length: events }, () => ({ type: "content", text: "x".repeat(chars) }));
  direct.write(() => {
    const turn = { id, sessionId, owner, ephemeral: false, startedAt: at, checkpoint: { offset: 0 } };
    direct.turns.createIfNoneRuns(turn);
    direct.turns.appendEventsIfRunning(id, told, 1);
    direct.turns.advance(id, "reader", 1);
  });
  return id;
}

/** Stores an ended turn. */
export async function storeEnded(direct: Direct, given: Given): Promise<string> {
  const id = await storeRunning(direct, given);
  const end = { status: "complete", error: null, usage: null, endedAt: given.at } as const;
  direct.write(() => direct.turns.endIfRunning(id, end));
  return id;
}

/** Stores a decided approval with an input of so many characters. */
export async function storeDecided(direct: Direct, { sessionId, at, chars = 10 }: Given): Promise<string> {
  const approval = newApproval({ sessionId, input: { command: "x".repeat(chars) } });
  direct.write(() => {
    direct.approvals.create(approval);
    direct.approvals.settleIfPending(approval.id, unchainedOutcome({ resolvedAt: at }));
  });
  return approval.id;
}
