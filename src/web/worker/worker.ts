import type { PushMessage } from "../../contract/push.ts";
import type { WorkerMessage } from "../install/worker-message.ts";

declare const self: ServiceWorkerGlobalScope;

/** Shown for a push that this worker can't read: browsers take push away from a page that shows nothing. */
const UNREADABLE: PushMessage = {
  title: "Plexus",
  body: "Open it to see what needs approval.",
  tag: "plexus",
  to: "#/inbox",
};
/** Matches a fragment of the page and nothing else. */
const IN_PAGE = /^#\/[\w/-]*$/;

/** The service worker of the page. It answers no request and stores nothing; it knows only the push that it shows. */
self.addEventListener("install", () => void self.skipWaiting());

self.addEventListener("push", (event) => event.waitUntil(show(messageIn(event.data))));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(String(event.notification.data)));
});

function messageIn(data: PushMessageData | null): PushMessage {
  try {
    return { ...UNREADABLE, ...data?.json() };
  } catch {
    return UNREADABLE;
  }
}

async function show({ title, body, tag, to }: PushMessage): Promise<void> {
  const pictures = { icon: "/assets/icon-192.png", badge: "/assets/badge-96.png" };
  // A later message replaces an earlier one, but still alerts.
  const options = { body, tag, renotify: true, data: to, ...pictures };
  await self.registration.showNotification(title, options);
}

/** Focuses an open page, or opens one. */
async function open(to: string): Promise<void> {
  const fragment = IN_PAGE.test(to) ? to : UNREADABLE.to;
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = windows.find(({ url }) => new URL(url).pathname === "/");
  if (!page) {
    await self.clients.openWindow(`/${fragment}`);
    return;
  }
  page.postMessage({ type: "open", to: fragment } satisfies WorkerMessage);
  await page.focus();
}
