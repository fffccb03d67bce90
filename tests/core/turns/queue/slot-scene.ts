import type { SessionConfig } from "../../../../src/contract/sessions/session.ts";
import { createTokens } from "../../../../src/core/access/tokens.ts";
import { createBroadcast } from "../../../../src/core/events/broadcast.ts";
import { createTurnQueue } from "../../../../src/core/turns/queue/turn-queue.ts";
import { type Begun, createTurnRecord } from "../../../../src/core/turns/record.ts";
import { newConfig, newSession } from "../../../storage/rows.ts";
import { temporaryStorage } from "../../../storage/temporary-storage.ts";

/** Slots, and the record of what runs in them, without any child. */
export async function openSlotScene(maxRunning: number) {
  const storage = await temporaryStorage();
  const lent = { ...storage, [Symbol.dispose]: () => {} };
  const tokens = createTokens({ storage: lent, operatorToken: "operator-token-for-tests", now: Date.now });
  const queue = createTurnQueue({ storage: lent, tokens, maxRunning });
  const record = createTurnRecord({
    storage: lent,
    broadcast: createBroadcast(),
    abandon: async () => {},
    now: Date.now,
    queue,
    environment: {},
  });
  const turns = new Map<string, Begun["turn"]>();
  const status = (name: string) => storage.turns.get(turns.get(name)?.id ?? "")?.status;

  async function begin(name: string, owner: string, heldToken?: string): Promise<Begun> {
    const session = newSession({ name, owner, config: heldToken ? configHolding(heldToken) : null });
    const made = storage.write(() => storage.sessions.createIfNameFree(session));
    const begun = record.begin(session, { id: storage.newId(), prompt: name, ephemeral: false });
    await made;
    turns.set(name, (await begun).turn);
    return begun;
  }

  return {
    storage,
    record,
    tokens,
    /** Files a turn in a new session, whose child may hold a token. */
    begin,
    status,
    running: (): string[] => [...turns.keys()].filter((name) => status(name) === "running"),
    isBorrowed: (name: string): boolean => storage.turns.get(turns.get(name)?.id ?? "")?.isBorrowed === true,
    async token(name: string) {
      const { id, token } = await tokens.createNamed(name);
      return { name, owner: `token:${id}`, token };
    },
    /** Ends a turn, and starts all that may start then. */
    async end(name: string): Promise<void> {
      const turn = turns.get(name);
      if (turn) await record.end(turn, { status: "complete", error: null });
      for (let next = queue.next(); next; next = queue.next()) await record.beginQueued(next.id);
    },
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}

function configHolding(token: string): SessionConfig {
  const headers = { Authorization: `Bearer ${token}` };
  return newConfig({ mcp_servers: { children: { type: "http", url: "http://127.0.0.1:1/mcp", headers } } });
}
