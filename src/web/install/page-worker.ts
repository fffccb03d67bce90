import { WORKER_PATH } from "../../contract/page-address.ts";
import type { WorkerMessage } from "./worker-message.ts";

type ScriptUrls = { createScriptURL(url: string): string };
type Policies = { createPolicy(name: string, rules: ScriptUrls): ScriptUrls };

/** The name that the page's policy knows: it is made once, so that no other script of the page can make it again. */
const POLICY = "plexus-worker";

export type PageWorker = ReturnType<typeof createPageWorker>;

/** The worker that shows pushes; it answers no request of the page, and stores nothing. */
export function createPageWorker() {
  // Browsers have workers over TLS, or on the same machine.
  const workers = isSecureContext ? navigator.serviceWorker : undefined;
  const address = scriptUrl(WORKER_PATH);
  let registered: Promise<ServiceWorkerRegistration | undefined> | undefined;
  return {
    /** `undefined` where the browser runs none; the page works all the same. */
    registered(): Promise<ServiceWorkerRegistration | undefined> {
      registered ??= Promise.resolve(workers?.register(address, { updateViaCache: "none" })).catch(() => undefined);
      return registered;
    },
    /** Calls `go` with where a person wants to go who pressed a notification. */
    onOpen(go: (to: string) => void): void {
      workers?.addEventListener("message", ({ data }: MessageEvent<WorkerMessage>) => {
        if (data.type === "open") go(data.to);
      });
      workers?.startMessages();
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
