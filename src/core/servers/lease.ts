import type { Storage } from "../../storage/storage.ts";

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;

type LeaseNeed = {
  storage: Pick<Storage, "servers">;
  /** Called after the lease had expired, as it does while the machine sleeps. */
  onLapsed: () => Promise<void>;
  onError: (cause: unknown) => void;
  leaseMs?: number | undefined;
  renewEveryMs?: number | undefined;
};

/** Renews this server's lease on the approvals that it holds, until disposed. */
export function openLease(need: LeaseNeed): AsyncDisposable {
  const { storage, onLapsed, onError, leaseMs = LEASE_MS, renewEveryMs = RENEW_EVERY_MS } = need;

  async function renew(): Promise<void> {
    if ((await storage.servers.renew(leaseMs)) === "lapsed") await onLapsed();
  }

  // Not awaited, to keep the start fast: every later write of this server comes after this one.
  const joined = renew().catch(onError);
  const timer = setInterval(() => void renew().catch(onError), renewEveryMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await joined;
      // If the database accepts no writes, the lease expires by itself.
      await storage.servers.leave().catch(onError);
    },
  };
}
