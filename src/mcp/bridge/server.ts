import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

/** Where the server is, and the token that it takes. */
type Place = { url: string; token: string | undefined };

export type BridgeServerNeed = {
  /** Looked up again for each attempt, since another server may be elsewhere; `undefined` while there is none. */
  find(): Place | undefined;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Told once for each change. */
  say(line: string): void;
  over: AbortSignal;
};

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3_000;
const PROBE_MS = 4_000;
const Healthy = z.object({ status: z.literal("ok") });

/** The server as this bridge sees it: there, or waited for. */
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
    /** Resolves when the server answers again; all who have lost it wait for the same one. */
    back(): Promise<void> {
      waiting ??= watch().finally(() => {
        waiting = undefined;
      });
      return waiting;
    },
    /** It does its work: the next pause is a short one again. */
    works(): void {
      failures = 0;
    },
  };
}

/** With chance in it, so that a hundred bridges don't come back in the same moment. */
function pauseAfter(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + Math.random() / 2);
}
