import { createListeners } from "../listeners.ts";

/** How long an allow waits for its second press. */
const ARMED_MS = 8_000;
/**
 * A press this soon after another is ignored: it is the same key held down, or was meant for what the screen showed
 * before.
 */
const SETTLE_MS = 350;

type ConfirmationNeed = {
  /** Milliseconds of a clock that never runs backwards. */
  now: () => number;
  armedMs?: number;
};

type Press = {
  /** Identifies what would be allowed. */
  target: string;
  /** The reasons for a second press; empty if one press is enough. */
  reasons: () => Promise<string[]>;
  /** Whether the person still looks at the target. */
  isCurrent: () => boolean;
};

/** The result of a press: go ahead, wait for a second press, or nothing. */
type PressResult = "confirmed" | "armed" | "too_soon" | "moved_on";
export type Confirmation = ReturnType<typeof createConfirmation>;

/**
 * Requires a second press for a dangerous request, and ignores presses that come before the person could read the
 * screen.
 */
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
    /** Returns the target that waits for its second press, with the reasons. */
    armed: current,
    /** Call when the screen shows something else: a press that follows at once was not meant for it. */
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
