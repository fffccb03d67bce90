import { createListeners } from "../listeners.ts";

/** For how long an allow waits for its second press. */
const ARMED_MS = 8_000;
/** A press so soon after another was meant for what stood there before, or is the same key, held down. */
const SETTLE_MS = 350;

type ConfirmationNeed = {
  /** In milliseconds, never set back. */
  now: () => number;
  armedMs?: number;
};

type Press = {
  /** What would be allowed. */
  target: string;
  /** Why allowing it takes a second press; none where it does not. */
  reasons: () => Promise<string[]>;
  /** Whether the person still looks at it. */
  isCurrent: () => boolean;
};

/** What came of a press: go ahead, wait for the second one, or nothing. */
type PressResult = "confirmed" | "armed" | "too_soon" | "moved_on";
export type Confirmation = ReturnType<typeof createConfirmation>;

/** The second press: a dangerous request is allowed only when asked twice, and nothing before it could be read. */
export function createConfirmation({ now, armedMs = ARMED_MS }: ConfirmationNeed) {
  const { onChange, changed } = createListeners();
  let armed: { target: string; reasons: string[]; until: number } | undefined;
  let settlesAt = Number.NEGATIVE_INFINITY;

  const current = () => (armed && now() < armed.until ? armed : undefined);
  const hesitate = () => {
    settlesAt = now() + SETTLE_MS;
  };

  function arm(next: typeof armed): void {
    if (armed === next) return;
    armed = next;
    changed();
  }

  return {
    onChange,
    /** What waits for its second press, and why. */
    armed: current,
    /** Something else is on the screen: a press that follows at once was not meant for it. */
    hesitate,
    isTooSoon: () => now() < settlesAt,
    disarm: () => arm(undefined),

    async press({ target, reasons, isCurrent }: Press): Promise<PressResult> {
      if (now() < settlesAt) return "too_soon";
      const isArmed = current()?.target === target;
      arm(undefined);
      if (isArmed) return "confirmed";
      const found = await reasons();
      if (!isCurrent()) return "moved_on";
      if (found.length === 0) return "confirmed";
      arm({ target, reasons: found, until: now() + armedMs });
      hesitate();
      return "armed";
    },
  };
}
