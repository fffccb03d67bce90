import type { Announcer } from "./announcer.tsx";
import type { Preferences } from "./preferences.ts";

export type Notifier = ReturnType<typeof createNotifier>;

/** Shows system notifications, if they are turned on and the page is hidden. */
export function createNotifier({ preferences, announcer }: { preferences: Preferences; announcer: Announcer }) {
  const { notifies, pushes } = preferences;
  // The permission may have been withdrawn since.
  if (!isPermitted()) notifies.value = "no";

  return {
    notify(text: string, onClick: () => void): void {
      // With push, this browser's worker shows notifications.
      if (pushes.peek() !== "no") return;
      if (notifies.peek() === "no" || document.visibilityState === "visible" || !isPermitted()) return;
      const notification = newNotification(text);
      if (!notification) return;
      notification.onclick = () => {
        window.focus();
        notification.close();
        onClick();
      };
    },

    /** Turns notifications on or off. The browser asks the person first. */
    async want(isWanted: boolean): Promise<void> {
      const isGranted =
        isWanted && typeof Notification !== "undefined" && (await Notification.requestPermission()) === "granted";
      notifies.value = isGranted ? "yes" : "no";
      announcer.complain(
        isWanted && !isGranted
          ? "This browser does not let Plexus show notifications: allow them in its settings."
          : "",
      );
    },
  };
}

function isPermitted(): boolean {
  return typeof Notification !== "undefined" && Notification.permission === "granted";
}

/** Browsers on phones have the class, but refuse to construct one in a page. */
function newNotification(body: string): Notification | undefined {
  try {
    return new Notification("Plexus", { body, tag: "plexus-request", icon: "/assets/icon.svg" });
  } catch {
    return undefined;
  }
}
