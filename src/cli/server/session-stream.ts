import { z } from "zod";
import { CommandFailed, ExitCode } from "../terminal/terminal.ts";
import { eventConnection, pause } from "./event-connection.ts";
import type { Server } from "./server-client.ts";

/** What a session's stream tells; the event is taken as it comes, for a newer server may know more of them. */
const Told = z.object({ turn_id: z.string(), seq: z.int(), event: z.looseObject({ type: z.string() }) });
export type Told = z.infer<typeof Told>;

const GIVE_UP_MS = 60_000;
const RETRY_MS = { first: 100, most: 2_000 };

type Following = {
  /** Looked up anew for each connection: after a restart it may listen elsewhere. */
  find: () => Server;
  /** The session's id or name. */
  session: string;
  turnId?: string | undefined;
  /** Whether to stay for what is still to come. */
  isLive: boolean;
  signal: AbortSignal;
  onLost: () => void;
};

/** The events of a session; a connection that breaks is taken up again behind the last of them, so that none comes twice. */
export async function* followSession(following: Following): AsyncGenerator<Told> {
  const { isLive, signal, onLost } = following;
  let lastId: string | undefined;
  let lostAt: number | undefined;
  let retryMs = RETRY_MS.first;
  while (!signal.aborted) {
    try {
      for await (const { id, data } of connection(following, lastId)) {
        [lostAt, retryMs] = [undefined, RETRY_MS.first];
        const told = toldIn(data);
        lastId = id;
        yield told;
      }
      if (!isLive) return;
    } catch (cause) {
      if (signal.aborted) return;
      if (cause instanceof CommandFailed && cause.exitCode !== ExitCode.unreachable) throw cause;
      if (lostAt !== undefined && performance.now() - lostAt > GIVE_UP_MS) throw gone(cause);
    }
    if (lostAt === undefined && !signal.aborted) onLost();
    lostAt ??= performance.now();
    await pause(retryMs, signal);
    retryMs = Math.min(2 * retryMs, RETRY_MS.most);
  }
}

function connection({ find, session, turnId, isLive, signal }: Following, lastId: string | undefined) {
  const query = new URLSearchParams({ follow: String(isLive), ...(turnId && { turn_id: turnId }) });
  const path = `/api/v1/sessions/${encodeURIComponent(session)}/events?${query}`;
  return eventConnection({ server: find(), path, lastId, signal });
}

function toldIn(data: string): Told {
  const told = Told.safeParse(JSON.parse(data));
  if (told.success) return told.data;
  throw new CommandFailed("The server tells of events that are not understood: is it another version?");
}

function gone(cause: unknown): CommandFailed {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CommandFailed(`The server did not come back within a minute. ${reason}`, ExitCode.unreachable);
}
