import type { SessionConfig } from "../../../../src/contract/sessions/session.ts";
import { createTokens } from "../../../../src/core/access/tokens.ts";
import { createBroadcast } from "../../../../src/core/events/broadcast.ts";
import { createTurnQueue } from "../../../../src/core/turns/queue/turn-queue.ts";
import { createTurnRecord } from "../../../../src/core/turns/record.ts";
import type { BegunTurn, TurnRow } from "../../../../src/storage/turns.ts";
import { ANY_NUMBER, newConfig, newSession } from "../../../storage/rows.ts";
import { openDirect } from "../../../storage/sqlite/support/direct.ts";
import { temporaryStorage } from "../../../storage/sqlite/support/temporary-storage.ts";

/** A queue and its storage, without children. */
export async function openSlotSetup(maxRunning: number) {
  const storage = await temporaryStorage();
  const tokens = createTokens({
    storage,
    operatorToken: "operator-token-for-tests",
    now: Date.now,
    onError: console.error,
  });
  const queue = createTurnQueue({ storage, tokens, maxRunning, now: Date.now });
  const record = createTurnRecord({
    storage,
    broadcast: createBroadcast(),
    abandon: async () => {},
    now: Date.now,
    environmentOf: () => ({}),
  });
  const turns = new Map<string, TurnRow>();
  const direct = openDirect(storage.dataDir);
  const rowOf = (name: string) => direct.turns.get(turns.get(name)?.id ?? "");
  const status = (name: string) => rowOf(name)?.status;

  async function begin(name: string, owner: string, heldToken?: string): Promise<BegunTurn> {
    const session = newSession({ name, owner, config: heldToken ? configHolding(heldToken) : null });
    const made = storage.sessions.createIfNameFree(session, "none", ANY_NUMBER);
    const begun = queue.begin(session, { id: storage.newId(), prompt: name, ephemeral: false });
    await made;
    turns.set(name, (await begun).turn);
    return begun;
  }

  return {
    storage,
    queue,
    record,
    tokens,
    /** Files a turn in a new session; its child may hold a token. */
    begin,
    status,
    running: (): string[] => [...turns.keys()].filter((name) => status(name) === "running"),
    isBorrowed: (name: string): boolean => rowOf(name)?.isBorrowed === true,
    /** How many turns hold a slot, and how many are queued. */
    counts: () => ({ inSlots: direct.turns.countInSlots(), queued: direct.turns.listQueued().length }),
    async token(name: string) {
      const { id, token } = await tokens.createNamed(name);
      return { name, owner: `token:${id}`, token };
    },
    /** Ends a turn, and starts every turn that may start then. */
    async end(name: string): Promise<void> {
      const turn = turns.get(name);
      if (turn) await record.end(turn, { status: "complete", error: null });
      for (let next = await queue.next(); next; next = await queue.next()) await queue.beginQueued(next);
    },
    async [Symbol.asyncDispose]() {
      direct[Symbol.dispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

function configHolding(token: string): SessionConfig {
  const headers = { Authorization: `Bearer ${token}` };
  return newConfig({ mcp_servers: { children: { type: "http", url: "http://127.0.0.1:1/mcp", headers } } });
}
