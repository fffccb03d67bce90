import type { Change } from "../../contract/change.ts";
import type { Storage } from "../../storage/storage.ts";
import { createRepeatedWork } from "../events/repeated-work.ts";

const PAGE = 500;

export type ChangeRelay = ReturnType<typeof createChangeRelay>;

/**
 * Tells this process of every change once, in the order of their numbers, whichever server made it. Its own come with
 * their commits; those of others are read when there is a gap before its own, and whenever `catchUp` is called.
 */
export function createChangeRelay(publish: (changes: Change[]) => void, onError: (cause: unknown) => void) {
  let storage: Pick<Storage, "changes"> | undefined;
  /** The last one that was told. */
  let told = 0;
  const catchUp = createRepeatedWork(() => readOn().catch(onError));

  async function readOn(): Promise<void> {
    for (;;) {
      const page = (await storage?.changes.listAfter(told, undefined, PAGE)) ?? [];
      // Its own may have been told while the page was read.
      tell(page.filter(({ id }) => id > told));
      if (page.length < PAGE) return;
    }
  }

  function tell(changes: Change[]): void {
    told = changes.at(-1)?.id ?? told;
    publish(changes);
  }

  return {
    /** What was committed here. */
    committed(changes: Change[]): void {
      // A look at the table may have found them already; nearly always they come right behind what was told.
      const mayBeTold = storage !== undefined && changes[0]?.id !== told + 1;
      const untold = mayBeTold ? changes.filter(({ id }) => id > told) : changes;
      const [first] = untold;
      if (!first) return;
      if (!storage || first.id === told + 1) tell(untold);
      // Others came first: all are read in order.
      else catchUp();
    },
    /** Begins to tell of what others do from now on. */
    async follow(followed: Pick<Storage, "changes">): Promise<void> {
      told = Math.max(told, await followed.changes.newestId());
      storage = followed;
    },
    catchUp,
  };
}
