/** The longest delay that setTimeout accepts. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One timer for the earliest of many stored deadlines: `at` adds a deadline, `onDue` runs when the earliest is due. */
export function createDeadline({ now, onDue }: { now: () => number; onDue: () => void }) {
  let stopped = false;
  let earliest: { at: number; timer: ReturnType<typeof setTimeout> } | undefined;

  function at(time: number | undefined): void {
    if (stopped || time === undefined || (earliest && earliest.at <= time)) return;
    clearTimeout(earliest?.timer);
    const fire = () => {
      earliest = undefined;
      onDue();
    };
    earliest = { at: time, timer: setTimeout(fire, Math.min(Math.max(0, time - now()), MAX_TIMER_MS)) };
  }

  return {
    at,
    [Symbol.dispose]() {
      stopped = true;
      clearTimeout(earliest?.timer);
    },
  };
}
