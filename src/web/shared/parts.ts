import type { ReadonlySignal } from "@preact/signals";
import type { Announcer } from "./announcer.tsx";
import type { Notifier } from "./notification.ts";
import type { Preferences } from "./preferences.ts";
import type { Router } from "./route.ts";

/** What every visitor of the page has, signed in or not. */
export type SharedParts = {
  announcer: Announcer;
  preferences: Preferences;
  /** In Unix seconds. */
  now: ReadonlySignal<number>;
  router: Router;
  notifier: Notifier;
};
