import { WORKER_PATH } from "../../contract/page-address.ts";

type ScriptUrls = { createScriptURL(url: string): string };
type Policies = { createPolicy(name: string, rules: ScriptUrls): ScriptUrls };

/** The name that the page's policy knows: it is made once, so that no other script of the page can make it again. */
const POLICY = "plexus-worker";

/** Whether this browser can run the worker of the page: over TLS, or on this machine. */
export function hasWorkers(): boolean {
  return isSecureContext && "serviceWorker" in navigator;
}

/** Registers the worker that shows pushes; it answers no request of the page, and keeps nothing. */
export function createWorker(): { registered(): Promise<ServiceWorkerRegistration | undefined> } {
  const address = scriptUrl(WORKER_PATH);
  let registered: Promise<ServiceWorkerRegistration | undefined> | undefined;
  return {
    registered() {
      // Where the browser forbids it the page works as before.
      registered ??= hasWorkers()
        ? navigator.serviceWorker.register(address, { updateViaCache: "none" }).catch(() => undefined)
        : Promise.resolve(undefined);
      return registered;
    },
  };
}

/** A script's address that browsers with Trusted Types take: this one, and no other. */
function scriptUrl(only: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  const policy = trustedTypes?.createPolicy(POLICY, {
    createScriptURL(url) {
      if (url === only) return url;
      throw new TypeError("Only the page's own worker is a script that may be loaded.");
    },
  });
  return policy?.createScriptURL(only) ?? only;
}
