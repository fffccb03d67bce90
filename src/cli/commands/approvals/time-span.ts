const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The seconds of 90s, 30m, 12h or 7d; `undefined` for anything else. */
export function timeSpan(value: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(value) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0);
}
