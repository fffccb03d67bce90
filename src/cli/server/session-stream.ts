import type { Api } from "../../client/api.ts";
import type { SessionFeedEvent } from "../../client/feeds.ts";
import { isUnreachable, Refused } from "../../contract/refusals/refused.ts";
import { CommandFailed, ExitCode } from "../terminal/terminal.ts";

const GIVE_UP_MS = 60_000;

type SessionStreamNeed = {
  api: Api;
  /** The session's id or name. */
  session: string;
  turnId?: string | undefined;
  /** Whether to wait for further events. */
  isLive: boolean;
  signal: AbortSignal;
  onLost: () => void;
};

/** The events of a session, each exactly once. The command ends if the server stays away for a minute. */
export async function* followSession({ onLost, ...need }: SessionStreamNeed): AsyncGenerator<SessionFeedEvent> {
  const { sessionEvents } = await import("../../client/feeds.ts");
  let lostAt: number | undefined;
  const events = sessionEvents({
    ...need,
    onOpen: () => {
      lostAt = undefined;
    },
    onLost: (cause) => {
      if (cause instanceof Refused && !isUnreachable(cause)) throw cause;
      if (lostAt === undefined) onLost();
      lostAt ??= performance.now();
      if (performance.now() - lostAt > GIVE_UP_MS) throw gone(cause);
    },
  });
  for await (const event of events) {
    if (!event) throw new CommandFailed("The server tells of events that are not understood: is it another version?");
    yield event;
  }
}

function gone(cause: unknown): CommandFailed {
  const reason = cause instanceof Error ? ` ${cause.message}` : "";
  return new CommandFailed(`The server did not come back within a minute.${reason}`, ExitCode.unreachable);
}
