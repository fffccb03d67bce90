import { openStalled } from "../../tests/http/support/stalled-reader.ts";
import { eventsOf, request } from "../crash/wire.ts";

/** Opens readers of the event stream that read almost nothing: some nothing, some an event now and then. */
export async function openSlowReaders(url: string, token: string, count: number): Promise<Disposable> {
  const leave = new AbortController();
  const authorization = { Authorization: `Bearer ${token}` };
  const stalled = await Promise.all(
    Array.from({ length: Math.ceil(count / 2) }, () => openStalled(url, "/api/v1/events", authorization)),
  );
  for (let opened = stalled.length; opened < count; opened++) void readSlowly(url, token, leave.signal);
  return {
    [Symbol.dispose]() {
      leave.abort();
      for (const one of stalled) one[Symbol.dispose]();
    },
  };
}

/** Reads one event per second, until the server drops it or dies. */
async function readSlowly(url: string, token: string, signal: AbortSignal): Promise<void> {
  try {
    const response = await request(`${url}/api/v1/events`, { token, signal });
    for await (const _ of eventsOf(response)) await Bun.sleep(1_000);
  } catch {
    // The server was stopped, or we have disconnected.
  }
}
