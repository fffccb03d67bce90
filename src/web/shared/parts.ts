import type { ReadonlySignal } from "@preact/signals";
import type { PageWorker } from "../install/page-worker.ts";
import type { Announcer } from "./announcer.tsx";
import type { Notifier } from "./notification.ts";
import type { Preferences } from "./preferences.ts";
import type { Router } from "./route.ts";
import type { Sound } from "./sound.ts";

/** The parts of the page for every visitor, signed in or not. */
export type SharedParts = {
  announcer: Announcer;
  preferences: Preferences;
  /** In Unix seconds. */
  now: ReadonlySignal<number>;
  router: Router;
  notifier: Notifier;
  sound: Sound;
  worker: PageWorker;
};
