import type { StatisticsRange } from "../../contract/statistics.ts";
import type { Hours } from "../../storage/activity.ts";
import { hourOf } from "../../storage/record/activity-record.ts";

/** The number of buckets and their hours, per range. */
const BUCKETS: Record<StatisticsRange, { count: number; hours: number }> = {
  "24h": { count: 24, hours: 1 },
  "7d": { count: 28, hours: 6 },
  "30d": { count: 30, hours: 24 },
};

/** How many hours one read adds up: short reads leave the event loop free for decisions. */
const SLICE_HOURS = 3;

/** The buckets of a range; the last one contains `now`. Days start at the caller's midnight. */
export function bucketsOf(range: StatisticsRange, now: number, utcOffsetMins: number): Hours[] {
  const { count, hours } = BUCKETS[range];
  const offset = Math.round(utcOffsetMins / 60);
  const last = Math.floor((hourOf(now) + offset) / hours) * hours - offset;
  return Array.from({ length: count }, (_, index) => {
    const from = last - (count - 1 - index) * hours;
    return { from, to: from + hours };
  });
}

export function slicesOf({ from, to }: Hours): Hours[] {
  const slices: Hours[] = [];
  for (let at = from; at < to; at += SLICE_HOURS) slices.push({ from: at, to: Math.min(to, at + SLICE_HOURS) });
  return slices;
}
