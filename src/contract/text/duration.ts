const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats a time span in its two largest units, as one word: 8s, 3m20s, 30h5m, 4d3h. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) return `${whole}s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)}m${whole % MINUTE}s`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)}h${Math.floor((whole % HOUR) / MINUTE)}m`;
  return `${Math.floor(whole / DAY)}d${Math.floor((whole % DAY) / HOUR)}h`;
}

/** Formats only the largest unit, where space is short. */
export function shortDuration(seconds: number): string {
  return /^\d+./.exec(duration(seconds))?.[0] ?? "";
}
