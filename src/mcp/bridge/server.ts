import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

/** The server's address, and the token that it accepts. */
type Place = { url: string; token: string | undefined };

export type BridgeServerNeed = {
  /** Called for each attempt, because a new server may have another address; `undefined` while there is none. */
  find(): Place | undefined;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Called once for each change of the server's state. */
  say(line: string): void;
  over: AbortSignal;
};

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3_000;
const PROBE_MS = 4_000;
const Healthy = z.object({ status: z.literal("ok") });

/** Tracks whether the server is there, and waits for it if not. */
export function createBridgeServer({ find, fetch, say, over }: BridgeServerNeed) {
  let place = find();
  let failures = 0;
  let waiting: Promise<void> | undefined;

  async function watch(): Promise<void> {
    let isTold = false;
    while (!over.aborted) {
      await pause(pauseAfter(failures++), undefined, { signal: over }).catch(() => undefined);
      if (over.aborted) return;
      const found = find();
      if (found && (await answers(found))) {
        place = found;
        if (isTold) say(`Plexus is back at ${found.url}.`);
        return;
      }
      if (!isTold) say(`No Plexus answers${place ? ` at ${place.url}` : ""}: waiting for it.`);
      isTold = true;
    }
  }

  async function answers({ url }: Place): Promise<boolean> {
    try {
      const signal = AbortSignal.any([over, AbortSignal.timeout(PROBE_MS)]);
      const response = await fetch(`${url}/healthz`, { signal });
      return response.ok && Healthy.safeParse(await response.json()).success;
    } catch {
      return false;
    }
  }

  return {
    async fetchMcp(init: RequestInit): Promise<Response> {
      if (!place) throw Object.assign(new Error("There is no server."), { code: "ECONNREFUSED" });
      const headers = new Headers(init.headers);
      if (place.token) headers.set("Authorization", `Bearer ${place.token}`);
      return fetch(`${place.url}/mcp`, { ...init, headers });
    },
    url: () => place?.url ?? "",
    /** Resolves when the server answers again. All callers share one watch. */
    back(): Promise<void> {
      waiting ??= watch().finally(() => {
        waiting = undefined;
      });
      return waiting;
    },
    /** The server works, so the next pause is short again. */
    works(): void {
      failures = 0;
    },
  };
}

/** A pause with jitter, so that a hundred bridges do not come back in the same moment. */
function pauseAfter(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + Math.random() / 2);
}
