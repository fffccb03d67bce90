import { effect, type Signal, signal } from "@preact/signals";
import { INBOX_GROUPS, INBOX_ORDERS } from "../../client/arrangement.ts";

export type Preferences = ReturnType<typeof createPreferences>;

/** What this browser remembers of how the page should look and behave. */
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
  };
}

function remembered<T extends string>(key: string, choices: readonly [T, ...T[]]): Signal<T> {
  const stored = localStorage.getItem(key);
  const choice = signal<T>(choices.find((one) => one === stored) ?? choices[0]);
  effect(() => localStorage.setItem(key, choice.value));
  return choice;
}
