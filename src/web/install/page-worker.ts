import { WORKER_PATH } from "../../contract/page-address.ts";
import type { WorkerMessage } from "./worker-message.ts";

type ScriptUrls = { createScriptURL(url: string): string };
type Policies = { createPolicy(name: string, rules: ScriptUrls): ScriptUrls };

/**
 * The policy name that the page's CSP allows. It can be created only once, so no other script of the page can use it.
 */
const POLICY = "plexus-worker";

export type PageWorker = ReturnType<typeof createPageWorker>;

/** The service worker that shows pushes. It answers no request of the page, and stores nothing. */
export function createPageWorker() {
  // Browsers offer workers only over TLS or on the same machine.
  const workers = isSecureContext ? navigator.serviceWorker : undefined;
  const address = scriptUrl(WORKER_PATH);
  let registered: Promise<ServiceWorkerRegistration | undefined> | undefined;
  return {
    /** `undefined` if the browser supports no worker; the page works without it. */
    registered(): Promise<ServiceWorkerRegistration | undefined> {
      registered ??= Promise.resolve(workers?.register(address, { updateViaCache: "none" })).catch(() => undefined);
      return registered;
    },
    /** Calls `go` with the target of a notification that the person pressed. */
    onOpen(go: (to: string) => void): void {
      workers?.addEventListener("message", ({ data }: MessageEvent<WorkerMessage>) => {
        if (data.type === "open") go(data.to);
      });
      workers?.startMessages();
    },
  };
}

/** The URL of a script in the form that Trusted Types require. The policy accepts only this URL. */
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
