import type { Terminal } from "./terminal.ts";

const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** Formats a time from Unix seconds: for a person in local time, with the date unless it is today; otherwise in UTC. */
export function moment(seconds: number, terminal: Terminal): string {
  const date = new Date(seconds * 1000);
  if (!terminal.isInteractive) return date.toISOString().replace(".000Z", "Z");
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? clockTime : dayAndTime).format(date).replace(",", "");
}
