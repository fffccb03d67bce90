import { signal } from "@preact/signals";

/** Now, in Unix seconds; ages and deadlines on the page follow it. */
export const now = signal(Math.floor(Date.now() / 1000));

setInterval(() => {
  now.value = Math.floor(Date.now() / 1000);
}, 1000);

/** A span of seconds as people say it: 8s, 3m 20s, 2h 5m, 4d. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
  return `${Math.floor(whole / 86_400)}d`;
}

/** The same in one unit, for where there is little room. */
export function shortSpan(seconds: number): string {
  return span(seconds).split(" ")[0] ?? "";
}

const clockTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** The time of day, with the date unless it is today's. */
export function moment(seconds: number): string {
  const date = new Date(seconds * 1000);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? clockTime : dayAndTime).format(date);
}
