import { effect } from "@preact/signals";
import { pendingCount } from "./inbox/asks.ts";
import { notifies } from "./preferences.ts";

/** Says it outside of the page, when that was asked for and nobody looks at the page. */
export function notify(text: string): void {
  if (notifies.peek() === "no" || document.visibilityState === "visible") return;
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return;
  const notification = new Notification("Plexus", { body: text, tag: "plexus-ask", icon: "/assets/icon.svg" });
  notification.onclick = () => {
    window.focus();
    notification.close();
  };
}

/** The browser asks the person first. */
export async function wantNotifications(isWanted: boolean): Promise<void> {
  if (!isWanted || typeof Notification === "undefined") {
    notifies.value = "no";
    return;
  }
  notifies.value = (await Notification.requestPermission()) === "granted" ? "yes" : "no";
}

/** The number of asks in the title, where it shows in the tab. */
export function badgeTitle(): () => void {
  return effect(() => {
    document.title = pendingCount.value > 0 ? `(${pendingCount.value}) Plexus` : "Plexus";
  });
}
