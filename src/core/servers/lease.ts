import type { Storage } from "../../storage/storage.ts";

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;

type LeaseNeed = {
  storage: Pick<Storage, "servers">;
  /** The lease had run out, as it does while a machine sleeps. */
  onLapsed: () => Promise<void>;
  onError: (cause: unknown) => void;
  leaseMs?: number | undefined;
  renewEveryMs?: number | undefined;
};

/** Says for as long as this server lives that what it holds is its own. */
export function openLease(need: LeaseNeed): AsyncDisposable {
  const { storage, onLapsed, onError, leaseMs = LEASE_MS, renewEveryMs = RENEW_EVERY_MS } = need;

  async function renew(): Promise<void> {
    if ((await storage.servers.renew(leaseMs)) === "lapsed") await onLapsed();
  }

  // Not waited for: a server starts as fast without it, and whatever it holds is written behind this.
  const joined = renew().catch(onError);
  const timer = setInterval(() => void renew().catch(onError), renewEveryMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await joined;
      // Where the database takes no writes, the lease runs out by itself.
      await storage.servers.leave().catch(onError);
    },
  };
}
