import { effect } from "@preact/signals";
import { complain } from "./announcer.tsx";
import { pendingCount } from "./inbox/asks.ts";
import { notifies } from "./preferences.ts";

/** Says it outside of the page, when that was asked for and nobody looks at the page. */
export function notify(text: string, onClick: () => void): void {
  if (notifies.peek() === "no" || document.visibilityState === "visible") return;
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return;
  const notification = newNotification(text);
  if (!notification) return;
  notification.onclick = () => {
    window.focus();
    notification.close();
    onClick();
  };
}

/** A phone's browser has the class, but makes none for a page. */
function newNotification(body: string): Notification | undefined {
  try {
    return new Notification("Plexus", { body, tag: "plexus-ask", icon: "/assets/icon.svg" });
  } catch {
    return undefined;
  }
}

/** The browser asks the person first. */
export async function wantNotifications(isWanted: boolean): Promise<void> {
  const isGranted =
    isWanted && typeof Notification !== "undefined" && (await Notification.requestPermission()) === "granted";
  notifies.value = isGranted ? "yes" : "no";
  complain(isWanted && !isGranted ? "This browser lets Plexus show no notifications: allow them in its settings." : "");
}

// What was allowed once may be forbidden by now.
if (typeof Notification === "undefined" || Notification.permission !== "granted") notifies.value = "no";

/** The number of asks in the title, where it shows in the tab. */
export function badgeTitle(): () => void {
  return effect(() => {
    document.title = pendingCount.value > 0 ? `(${pendingCount.value}) Plexus` : "Plexus";
  });
}
