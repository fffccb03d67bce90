import { type ReadonlySignal, signal } from "@preact/signals";

/** The present time in Unix seconds, updated every second. */
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

/** The time of day without seconds. */
export function clock(seconds: number): string {
  return shortTime.format(new Date(seconds * 1000));
}

/** The time of day, with the date unless it is today. */
export function moment(seconds: number): string {
  const date = new Date(seconds * 1000);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? clockTime : dayAndTime).format(date);
}
