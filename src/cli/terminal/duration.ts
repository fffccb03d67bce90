const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time span in its two largest units. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole}s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)}m${whole % MINUTE}s`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)}h${Math.floor((whole % HOUR) / MINUTE)}m`;
  return `${Math.floor(whole / DAY)}d${Math.floor((whole % DAY) / HOUR)}h`;
}
