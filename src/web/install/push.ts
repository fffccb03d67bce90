import { computed, signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import {
  getPush,
  type PushStatus,
  type PushSubscriptionStatus,
  subscribePush,
  testPush,
  unsubscribePush,
} from "../../contract/routes/push.ts";
import type { Delivery } from "../../contract/routes/webhooks.ts";
import type { SharedParts } from "../shared/parts.ts";
import type { PushWanted } from "../shared/preferences.ts";
import { reasonOf } from "../shared/reason.ts";

/** `blocked`: the browser gives this page no push. `not_set_up`: the server sends none. */
type PushState = "unknown" | "not_set_up" | "blocked" | "ready";

export type DevicePush = ReturnType<typeof createDevicePush>;

type DevicePushNeed = { api: Api; shared: SharedParts; signal: AbortSignal };

/** Push to this browser, while its person is signed in here. */
export function createDevicePush({ api, shared, signal: whileSignedIn }: DevicePushNeed) {
  const { preferences, announcer, worker } = shared;
  const { pushes } = preferences;
  const status = signal<PushStatus | undefined>(undefined);

  async function read(): Promise<PushStatus> {
    const found = await api.call(getPush);
    status.value = found;
    return found;
  }

  /** Subscribes at the browser's push service, and tells the server the address. */
  async function subscribe(publicKey: string): Promise<void> {
    const registration = await worker.registered();
    if (!registration) throw new Error("this browser runs no worker for this page");
    const subscription = await subscriptionOf(registration.pushManager, publicKey);
    const { endpoint = "", keys = {} } = subscription.toJSON();
    const { p256dh = "", auth = "" } = keys;
    const after_secs = Number(pushes.peek());
    await api.call(subscribePush, { body: { endpoint, keys: { p256dh, auth }, after_secs } });
  }

  async function turnOn(wanted: PushWanted): Promise<void> {
    const { public_key } = await read();
    if (public_key === null) return;
    if ((await Notification.requestPermission()) !== "granted")
      return announcer.complain(
        "This browser does not let Plexus show notifications: allow them in its settings, then turn push on again.",
      );
    pushes.value = wanted;
    // A pressed notification leads to a page that must be signed in.
    preferences.staysSignedIn.value = "yes";
    await subscribe(public_key);
  }

  async function turnOff(): Promise<void> {
    pushes.value = "no";
    const own = (await read()).subscriptions.find(({ is_own }) => is_own);
    if (own) await api.call(unsubscribePush, { params: { id: own.id } });
    await forgetSubscription();
  }

  async function forgetSubscription(): Promise<void> {
    const registration = await worker.registered();
    await (await registration?.pushManager.getSubscription())?.unsubscribe();
  }

  /** If push is on, a newly signed-in page takes it over from the page before. */
  async function takeOver(): Promise<void> {
    if (pushes.peek() === "no" || !hasPush() || Notification.permission !== "granted") return;
    const { public_key } = await api.call(getPush);
    if (public_key !== null && !whileSignedIn.aborted) await subscribe(public_key);
  }

  return {
    status,
    state: computed((): PushState => {
      if (status.value === undefined) return "unknown";
      if (status.value.public_key === null) return "not_set_up";
      return hasPush() ? "ready" : "blocked";
    }),
    own: computed(() => status.value?.subscriptions.find(({ is_own }) => is_own)),
    read: (): Promise<void> =>
      read().then(
        () => undefined,
        (cause) => announcer.complain(`Plexus does not say whether push is set up: ${reasonOf(cause)}`),
      ),
    /** Failures show in the settings, which are not open now. */
    takeOver: (): Promise<void> => takeOver().catch(() => undefined),
    async want(wanted: PushWanted): Promise<void> {
      announcer.complain("");
      try {
        await (wanted === "no" ? turnOff() : turnOn(wanted));
        await read();
      } catch (cause) {
        pushes.value = "no";
        announcer.complain(`Push could not be changed: ${reasonOf(cause)}`);
      }
    },
    test: async ({ id }: PushSubscriptionStatus): Promise<Delivery> => api.call(testPush, { params: { id } }),
    async remove({ id, is_own }: PushSubscriptionStatus): Promise<void> {
      if (is_own) return turnOff();
      await api.call(unsubscribePush, { params: { id } });
    },
    /** When the person signs out, nothing stays in the browser. */
    async end(): Promise<void> {
      if (pushes.peek() === "no") return;
      pushes.value = "no";
      await forgetSubscription().catch(() => undefined);
    },
  };
}

function hasPush(): boolean {
  return isSecureContext && "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis;
}

/** The present subscription if it was made with the server's key, else a new one. */
async function subscriptionOf(manager: PushManager, publicKey: string): Promise<PushSubscription> {
  const applicationServerKey = bytesIn(publicKey);
  const known = await manager.getSubscription();
  if (known && isSame(known.options.applicationServerKey, applicationServerKey)) return known;
  await known?.unsubscribe();
  return manager.subscribe({ userVisibleOnly: true, applicationServerKey });
}

function isSame(known: ArrayBuffer | null, wanted: Uint8Array): boolean {
  if (!known || known.byteLength !== wanted.length) return false;
  const bytes = new Uint8Array(known);
  return wanted.every((byte, at) => bytes[at] === byte);
}

function bytesIn(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
}
