import type { CrashReport } from "../crash/rounds.ts";
import { PROMISES, type Promised } from "./verdicts.ts";

/** Formats each promise, how often it was compared, and the result. */
export function reportLines({ seed, rounds, figures, promises, violations }: CrashReport): string[] {
  const width = Math.max(...Object.values(PROMISES).map((text) => text.length));
  const kept = Object.entries(promises).map(([promised, { checked, broken }]) => {
    const outcome = broken > 0 ? `BROKEN ${broken} times` : checked > 0 ? "kept" : "never compared";
    return `  ${PROMISES[promised as Promised].padEnd(width)}  ${String(checked).padStart(9)}  ${outcome}`;
  });
  return [
    `${rounds} rounds, seed ${seed}`,
    "",
    ...Object.entries(figures).map(([what, figure]) => `  ${what.padEnd(26)}  ${String(figure).padStart(9)}`),
    "",
    `  ${"promised".padEnd(width)}  ${"compared".padStart(9)}  happened`,
    ...kept,
    ...(violations.length > 0 ? ["", ...violations] : []),
  ];
}
