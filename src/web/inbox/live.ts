import { ChangeEvent } from "../../contract/change.ts";
import { Caller } from "../../contract/sign-in.ts";
import { announce, complain } from "../announcer.tsx";
import { historyChanged } from "../history/record.ts";
import { notify } from "../notification.ts";
import { linkTo } from "../route.ts";
import { sessionsChanged } from "../sessions/listing.ts";
import { caller, endsSignIn, signedOut } from "../sign-in.tsx";
import { visibleText } from "../text/visible.tsx";
import { callersOwn } from "../wire/callers-own.ts";
import { followEvents } from "../wire/event-stream.ts";
import { reasonOf, request } from "../wire/request.ts";
import { loadAsks, takeEvent } from "./arrivals.ts";
import { type Ask, openCard } from "./asks.ts";

export type Connection = "connecting" | "live" | "lost";
export const connection = callersOwn<Connection>("connecting");
/** The server has become another version than the one that this page came from. */
export const isOutdated = callersOwn(false);

/** Keeps the page what the server is, for as long as somebody is signed in. */
export async function goLive(signal: AbortSignal): Promise<void> {
  const fail = (cause: unknown) => {
    if (signal.aborted) return;
    connection.value = "lost";
    if (endsSignIn(cause)) signedOut(reasonOf(cause));
  };
  await followEvents({
    path: "/api/v1/events",
    signal,
    onOpen: (missed) => {
      if (missed) historyChanged();
      void catchUp().catch(fail);
    },
    onEvent: ({ data }) => {
      const event = ChangeEvent.safeParse(parsed(data)).data;
      if (event === undefined) return;
      sessionsChanged(event);
      historyChanged(event);
      if (event.type === "unasked_call") warnOf(event);
      takeEvent(event, tell);
    },
    onLost: fail,
  });
}

/** Only once the server listens for us, so that nothing falls between the list and the stream. */
async function catchUp(): Promise<void> {
  await loadAsks();
  connection.value = "live";
  const { version } = await request(Caller, "GET", "/api/v1/me");
  isOutdated.value = version !== caller.peek()?.version;
}

function tell(fresh: Ask[]): void {
  const [first] = fresh;
  if (!first) return;
  const { id, session_name, tool_name } = first.approval;
  const text =
    fresh.length === 1 ? `${session_name} asks to use ${visibleText(tool_name)}` : `${fresh.length} new asks`;
  announce(text);
  notify(text, () => {
    location.hash = linkTo.inbox;
    openCard(id);
  });
}

/** The seal of a child is broken: nothing on the page matters more. */
function warnOf({ session_id, session_name, tool_name }: ChangeEvent & { type: "unasked_call" }): void {
  const text = `${session_name} ran ${visibleText(tool_name)} although Plexus had not allowed it`;
  complain(`${text}: see its transcript.`);
  notify(text, () => {
    location.hash = linkTo.session(session_id);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
