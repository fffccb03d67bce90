import { effect, type Signal, signal } from "@preact/signals";

/** A choice that this browser remembers. */
function remembered<T extends string>(key: string, choices: readonly [T, ...T[]]): Signal<T> {
  const stored = localStorage.getItem(key);
  const choice = signal<T>(choices.find((one) => one === stored) ?? choices[0]);
  effect(() => localStorage.setItem(key, choice.value));
  return choice;
}

export const theme = remembered("plexus-theme", ["system", "light", "dark"]);
export const diffLayout = remembered("plexus-diff", ["unified", "split"]);
export const notifies = remembered("plexus-notify", ["no", "yes"]);

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
});
