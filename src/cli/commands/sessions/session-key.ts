import type { Api } from "../../../client/api.ts";
import { isShortId } from "../../../client/words/short-id.ts";
import { Refused } from "../../../contract/refusals/refused.ts";
import { getSession, listSessions } from "../../../contract/routes/sessions.ts";
import type { SessionDetail, SessionSummary } from "../../../contract/sessions/session-view.ts";
import { CommandFailed } from "../../terminal/terminal.ts";

const PAGE = 1_000;

/**
 * The key by which the server finds the session: the argument itself, or the whole id if the argument is the end of
 * one.
 */
export async function sessionKey<Given extends string | undefined>(api: Api, given: Given): Promise<string | Given> {
  if (given === undefined) return given;
  // A name may look like the end of an id, and takes precedence.
  if (!isShortId(given) || (await findSession(api, given))) return given;
  const found = (await allSessions(api)).filter(({ id }) => id.endsWith(given));
  if (found.length <= 1) return found[0]?.id ?? given;
  throw new CommandFailed(`${found.length} sessions have an id that ends with ${given}: give more of it, or the name.`);
}

/** The session with this name or whole id, if there is one. */
export async function findSession(api: Api, key: string): Promise<SessionDetail | undefined> {
  try {
    return (await api.call(getSession, { params: { key } })).config;
  } catch (cause) {
    if (cause instanceof Refused && cause.code === "not_found") return undefined;
    throw cause;
  }
}

/** All sessions, newest first. */
export async function allSessions(api: Api): Promise<SessionSummary[]> {
  const { allItems } = await import("../../../client/paging.ts");
  return allItems(PAGE, async (at) => {
    const page = await api.call(listSessions, { query: at });
    return { items: page.sessions, cursor: page.cursor };
  });
}

type OfSession = { session_id: string; session_name: string };

/** A filter for things of one session. A deleted session is only known by its name or whole id. */
export async function sessionFilter(
  api: Api,
  given: string | undefined,
): Promise<{ id: string | undefined; matches: (one: OfSession) => boolean }> {
  if (given === undefined) return { id: undefined, matches: () => true };
  const found = await findSession(api, await sessionKey(api, given));
  if (found) return { id: found.id, matches: ({ session_id }) => session_id === found.id };
  return { id: undefined, matches: ({ session_id, session_name }) => [session_id, session_name].includes(given) };
}
