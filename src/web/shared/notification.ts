import type { Announcer } from "./announcer.tsx";
import type { Preferences } from "./preferences.ts";

export type Notifier = ReturnType<typeof createNotifier>;

/** Tells of what happens outside of the page, when that was asked for and nobody looks at the page. */
export function createNotifier({ preferences, announcer }: { preferences: Preferences; announcer: Announcer }) {
  const { notifies, pushes } = preferences;
  // What was allowed once may be forbidden by now.
  if (!isPermitted()) notifies.value = "no";

  return {
    notify(text: string, onClick: () => void): void {
      // With push, the worker of this browser tells.
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

    /** The browser asks the person first. */
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

/** A phone's browser has the class, but makes none for a page. */
function newNotification(body: string): Notification | undefined {
  try {
    return new Notification("Plexus", { body, tag: "plexus-request", icon: "/assets/icon.svg" });
  } catch {
    return undefined;
  }
}
