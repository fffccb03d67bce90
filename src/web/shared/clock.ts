import { type ReadonlySignal, signal } from "@preact/signals";

/** Now, in Unix seconds; ages and deadlines on the page follow it. */
export function createClock(): ReadonlySignal<number> {
  const now = signal(Math.floor(Date.now() / 1000));
  setInterval(() => {
    now.value = Math.floor(Date.now() / 1000);
  }, 1000);
  return now;
}

const clockTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const shortTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** The time of day alone, to the minute. */
export function clock(seconds: number): string {
  return shortTime.format(new Date(seconds * 1000));
}

/** The time of day, with the date unless it is today's. */
export function moment(seconds: number): string {
  const date = new Date(seconds * 1000);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? clockTime : dayAndTime).format(date);
}
