import type { Change } from "../../contract/change.ts";
import type { Storage } from "../../storage/storage.ts";
import { createRepeatedWork } from "../events/repeated-work.ts";

const PAGE = 500;

export type ChangeRelay = ReturnType<typeof createChangeRelay>;

/**
 * Publishes every change to this process once and in order, whichever server made it. Changes of this server arrive
 * with their commits. Those of others are read when there is a gap before an own change, and when `catchUp` is called.
 */
export function createChangeRelay(publish: (changes: Change[]) => void, onError: (cause: unknown) => void) {
  let storage: Pick<Storage, "changes"> | undefined;
  /** The id of the last published change. */
  let told = 0;
  const catchUp = createRepeatedWork(() => readOn().catch(onError));

  async function readOn(): Promise<void> {
    for (;;) {
      const page = (await storage?.changes.listAfter(told, undefined, PAGE)) ?? [];
      // Own changes may have been published during the read.
      tell(page.filter(({ id }) => id > told));
      if (page.length < PAGE) return;
    }
  }

  function tell(changes: Change[]): void {
    told = changes.at(-1)?.id ?? told;
    publish(changes);
  }

  return {
    /** Called with the changes of each commit of this server. */
    committed(changes: Change[]): void {
      // `catchUp` may have published these already. Nearly always they directly follow the last one.
      const mayBeTold = storage !== undefined && changes[0]?.id !== told + 1;
      const untold = mayBeTold ? changes.filter(({ id }) => id > told) : changes;
      const [first] = untold;
      if (!first) return;
      if (!storage || first.id === told + 1) tell(untold);
      // Changes of other servers come before these: read all in order.
      else catchUp();
    },
    /** Starts to publish changes of other servers, from now on. */
    async follow(followed: Pick<Storage, "changes">): Promise<void> {
      told = Math.max(told, await followed.changes.newestId());
      storage = followed;
    },
    catchUp,
  };
}
