import { ChangeEvent } from "../../contract/change.ts";
import { eventConnection, pause } from "../server/event-connection.ts";
import { Refused, type Server } from "../server/server-client.ts";
import { CommandFailed, ExitCode } from "../terminal/terminal.ts";

const RETRY_MS = { first: 100, most: 2_000 };

type Following = {
  /** Looked up anew for each connection: after a restart it may listen elsewhere. */
  find: () => Server;
  signal: AbortSignal;
  /** The server tells what happens from now on; `isGapless` where it tells what was missed too. */
  onOpen: (isGapless: boolean) => void;
  onChange: (event: ChangeEvent) => void;
  onLost: () => void;
};

/** What happens on the server, for as long as somebody watches; after a break it goes on behind the last event. */
export async function followChanges({ find, signal, onOpen, onChange, onLost }: Following): Promise<void> {
  let lastId: string | undefined;
  let retryMs = RETRY_MS.first;
  const opened = () => {
    retryMs = RETRY_MS.first;
    onOpen(lastId !== undefined);
  };
  while (!signal.aborted) {
    try {
      const path = "/api/v1/events";
      for await (const { id, data } of eventConnection({ server: find(), path, lastId, signal, onOpen: opened })) {
        lastId = id;
        // A newer server may tell of what this one does not know.
        const event = ChangeEvent.safeParse(JSON.parse(data)).data;
        if (event) onChange(event);
      }
    } catch (cause) {
      if (signal.aborted) return;
      // A place that the server does not know, such as one of a database that was restored since.
      if (cause instanceof Refused && cause.code === "invalid_arguments" && lastId !== undefined) lastId = undefined;
      else if (cause instanceof CommandFailed && cause.exitCode !== ExitCode.unreachable) throw cause;
    }
    if (signal.aborted) return;
    onLost();
    await pause(retryMs, signal);
    retryMs = Math.min(2 * retryMs, RETRY_MS.most);
  }
}
