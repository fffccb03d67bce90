import { effect, type Signal, signal } from "@preact/signals";
import { INBOX_GROUPS, INBOX_ORDERS } from "../../client/arrangement.ts";

export const PUSH_WANTED = ["no", "0", "30", "120"] as const;
export type PushWanted = (typeof PUSH_WANTED)[number];

export type Preferences = ReturnType<typeof createPreferences>;

/** Settings of appearance and behavior that this browser remembers. */
export function createPreferences() {
  const theme = remembered("plexus-theme", ["system", "light", "dark"]);
  effect(() => {
    if (theme.value === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme.value;
  });
  const density = remembered("plexus-density", ["comfortable", "compact"]);
  effect(() => {
    document.documentElement.dataset["density"] = density.value;
  });
  return {
    theme,
    density,
    diffLayout: remembered("plexus-diff", ["unified", "split"]),
    housekeeping: remembered("plexus-housekeeping", ["hidden", "shown"]),
    inboxOrder: remembered("plexus-inbox-order", INBOX_ORDERS),
    inboxGroups: remembered("plexus-inbox-groups", INBOX_GROUPS),
    notifies: remembered("plexus-notify", ["no", "yes"]),
    sound: remembered("plexus-sound", ["no", "yes"]),
    staysSignedIn: remembered("plexus-stay", ["no", "yes"]),
    /** How many seconds others have to decide before this browser gets a push. */
    pushes: remembered("plexus-push", PUSH_WANTED),
  };
}

function remembered<T extends string>(key: string, choices: readonly [T, ...T[]]): Signal<T> {
  const stored = localStorage.getItem(key);
  const choice = signal<T>(choices.find((one) => one === stored) ?? choices[0]);
  effect(() => localStorage.setItem(key, choice.value));
  // Another tab has changed the value.
  addEventListener("storage", ({ key: changed, newValue }) => {
    if (changed === key) choice.value = choices.find((one) => one === newValue) ?? choices[0];
  });
  return choice;
}
