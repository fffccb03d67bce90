import { z } from "zod";
import { JsonObject } from "../../src/contract/values.ts";
import type { Random } from "../../tests/support/random.ts";
import { expectKilled, type Setup } from "../crash/setup.ts";
import { eventsOf, request } from "../crash/wire.ts";
import type { Parent } from "./parents.ts";

const Told = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("approval_requested"),
    approval_id: z.string(),
    tool_use_id: z.string().nullable(),
    tool_input: JsonObject,
  }),
  z.object({
    type: z.literal("approval_resolved"),
    approval_id: z.string(),
    status: z.string(),
    response_message: z.string().nullable(),
    updated_input: JsonObject.nullable(),
    resolved_by: z.string(),
  }),
]);
export type Seen = { id: number; event: z.infer<typeof Told> };

/** A reader that follows all events from the first one, resuming after each crash and at random. */
export type Watcher = {
  owner: string;
  lastId(): number;
  /** Returns the events since the last call. */
  takeSeen(): Seen[];
  /** Rejects if it receives something that is not an event. */
  ended: Promise<void>;
};

export function startWatcher(setup: Setup, parent: Parent, random: Random, over: AbortSignal): Watcher {
  const { victim, ledger, verdicts } = setup;
  let seen: Seen[] = [];
  let lastId = 0;

  async function follow(): Promise<void> {
    while (!over.aborted) {
      const life = await victim.up();
      try {
        const mayGoOn = await life.during(readOn);
        if (!mayGoOn) throw new Error("it ended");
      } catch (cause) {
        if (cause instanceof z.ZodError) throw cause;
        expectKilled(setup, life, "an event stream", cause);
      }
    }
  }

  /**
   * Returns `false` if the stream has ended by itself; we may disconnect, and the server may drop us for being slow.
   */
  async function readOn(): Promise<boolean> {
    ledger.figures["event streams"]++;
    let eventsLeft = random.between(1, 40);
    const headers = { "last-event-id": String(lastId) };
    const response = await request(`${victim.url}/api/v1/events`, { token: parent.token, headers });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    for await (const { id, event, data } of eventsOf(response)) {
      if (event === "dropped") return true;
      const next = { id: Number(id), event: Told.parse(JSON.parse(data)) };
      const before = lastId;
      verdicts.check("events", next.id > before, () => `${parent.name} got ${id} after ${before}`);
      lastId = next.id;
      seen.push(next);
      ledger.figures.events++;
      if (--eventsLeft === 0) return true;
    }
    return false;
  }

  return {
    owner: parent.owner,
    ended: follow(),
    lastId: () => lastId,
    takeSeen() {
      const taken = seen;
      seen = [];
      return taken;
    },
  };
}
