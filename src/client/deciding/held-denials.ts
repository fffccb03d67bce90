import type { Approval } from "../../contract/approvals/approval.ts";
import { createListeners } from "../listeners.ts";
import type { Denial } from "./decider.ts";

/** How long a denial can be taken back. */
export const HELD_SECS = 3;
/** A request that expires this soon is denied at once: the two clocks may differ a little. */
const LAST_SECS = 10;
/** A page that is closing can send 64 kB, so no more is held. */
const MAX_HELD_BYTES = 60_000;

export type HeldDenial = { approvals: Approval[]; denial: Denial; secondsLeft: number };
type Held = HeldDenial & { timer: ReturnType<typeof setInterval> };
export type HeldDenials = ReturnType<typeof createHeldDenials>;

type HeldDenialsNeed = {
  send: (denial: HeldDenial) => Promise<void>;
  /** Unix seconds. */
  now: () => number;
};

/**
 * Holds denials for a moment, during which they can be taken back; the server doesn't know them until they are sent.
 */
export function createHeldDenials({ send, now }: HeldDenialsNeed) {
  const { onChange, changed } = createListeners();
  let all: Held[] = [];

  function set(next: Held[]): void {
    all = next;
    changed();
  }

  /** Removes a denial from the list. Only the caller that removed it may send it, so it is sent once or never. */
  function takeOut({ timer }: Held): void {
    clearInterval(timer);
    set(all.filter((one) => one.timer !== timer));
  }

  function countDown(timer: Held["timer"]): void {
    const held = all.find((one) => one.timer === timer);
    if (!held) return;
    if (held.secondsLeft > 1) {
      replace(held, { secondsLeft: held.secondsLeft - 1 });
    } else {
      takeOut(held);
      void send(held);
    }
  }

  function replace(held: Held, change: Partial<HeldDenial>): void {
    set(all.map((one) => (one === held ? { ...held, ...change } : one)));
  }

  return {
    onChange,
    /** Returns the oldest first. */
    all: (): readonly HeldDenial[] => all,

    /** Holds a denial; returns the requests that can't be held and must be denied at once. */
    hold(given: Approval[], denial: Denial): { held: Approval[]; urgent: Approval[] } {
      const isUrgent = ({ expires_at }: Approval) => expires_at - now() <= LAST_SECS;
      const approvals = given.filter((one) => !isUrgent(one));
      const bytes = [...all, { approvals, denial }].reduce((sum, one) => sum + bytesOf(one), 0);
      if (approvals.length === 0 || bytes > MAX_HELD_BYTES) return { held: [], urgent: given };
      const timer = setInterval(() => countDown(timer), 1_000);
      set([...all, { approvals, denial, secondsLeft: HELD_SECS, timer }]);
      return { held: approvals, urgent: given.filter(isUrgent) };
    },

    /** Takes back the denial of this request, or else the last one, so that it is never sent. */
    takeBack(id?: string): HeldDenial | undefined {
      const found = id === undefined ? all.at(-1) : all.find(({ approvals }) => approvals.some((one) => one.id === id));
      if (found) takeOut(found);
      return found;
    },

    /** Sends all held denials; resolves once the server has received them. */
    async sendAll(): Promise<void> {
      const waiting = all;
      waiting.forEach(takeOut);
      await Promise.all(waiting.map(send));
    },

    /** Removes requests that have ended otherwise; returns those that were held. */
    ended(ids: ReadonlySet<string>): Approval[] {
      const isOver = ({ id }: Approval) => ids.has(id);
      const over: Approval[] = [];
      for (const held of all) {
        const left = held.approvals.filter((one) => !isOver(one));
        over.push(...held.approvals.filter(isOver));
        if (left.length === 0) takeOut(held);
        else if (left.length < held.approvals.length) replace(held, { approvals: left });
      }
      return over;
    },

    /** Discards all held denials; returns how many requests stay undecided. */
    drop(): number {
      const count = all.reduce((sum, { approvals }) => sum + approvals.length, 0);
      all.forEach(takeOut);
      return count;
    },
  };
}

/** An upper bound of its size as a request. */
function bytesOf({ approvals, denial }: Pick<HeldDenial, "approvals" | "denial">): number {
  const decisions = approvals.map(({ id: approval_id }) => ({ approval_id, approve: false, ...denial }));
  return new TextEncoder().encode(JSON.stringify({ decisions })).length;
}
