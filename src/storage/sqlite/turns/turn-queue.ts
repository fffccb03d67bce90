import { eq, sql } from "drizzle-orm";
import { turnChange } from "../../record/turn-record.ts";
import type { QueuedTurnEnd, QueueState } from "../../turns.ts";
import type { ChangeQueries } from "../events/changes.ts";
import type { Orm } from "../statements/orm.ts";
import { turnQueue, turnShares } from "../tables.ts";
import type { Announce } from "../writer.ts";
import type { TurnQueries } from "./turns.ts";

export type TurnQueue = ReturnType<typeof createTurnQueue>;

/**
 * The state of this data dir's queue: running and queued turns, each owner's last start, and the version of this state.
 */
export function createTurnQueue({ orm, turns, changes }: { orm: Orm; turns: TurnQueries; changes: ChangeQueries }) {
  const noteStart = orm
    .insert(turnShares)
    .values({
      owner: sql.placeholder("owner"),
      lastStart: sql`(SELECT coalesce(max(last_start), 0) + 1 FROM turn_shares)`,
    })
    .onConflictDoUpdate({ target: turnShares.owner, set: { lastStart: sql`excluded.last_start` } })
    .prepare();
  const shares = orm.select().from(turnShares).prepare();
  const present = orm.select({ version: turnQueue.version }).from(turnQueue).where(eq(turnQueue.id, 1)).prepare();
  const next = orm
    .insert(turnQueue)
    .values({ id: 1, version: 1 })
    .onConflictDoUpdate({ target: turnQueue.id, set: { version: sql`version + 1` } })
    .prepare();
  const version = () => String(present.get()?.version ?? 0);
  /** All data dirs share one version: a change in another one only makes a caller choose again. */
  const changed = () => void next.run();

  return {
    version,
    state: (): QueueState => ({
      version: version(),
      running: turns.runningOwners(),
      queued: turns.listQueued(),
      lastStarts: new Map(shares.all().map(({ owner, lastStart }) => [owner, lastStart])),
    }),
    /** Call when a turn was started, queued or ended. */
    changed,
    noteStart: (owner: string): void => void noteStart.run({ owner }),
    forgetOwner: (owner: string): void => void orm.delete(turnShares).where(eq(turnShares.owner, owner)).run(),
    /** Ends a queued turn, which never had a child; `false` if it is not queued. Runs inside a transaction. */
    endIfQueued(announce: Announce, id: string, { status, error }: QueuedTurnEnd, now: number): boolean {
      // The turn becomes `running` within this transaction only, which nobody sees, so that it ends like any other.
      const turn = turns.startIfQueued(id, now)?.turn;
      if (!turn) return false;
      turns.appendEventsIfRunning(id, [{ type: "error", message: error }], now);
      turns.endIfRunning(id, { status, error, usage: null, endedAt: now });
      announce(changes.append(turnChange("turn_ended", turn, now)));
      changed();
      return true;
    },
  };
}
