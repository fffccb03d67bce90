import type { App, Principal, Session } from "../../app.ts";
import { AppError } from "../../contract/errors.ts";

/** The session that a call names, by name or by id. */
export async function sessionOf(
  app: App,
  principal: Principal,
  { name, session_id }: { name?: string | undefined; session_id?: string | undefined },
): Promise<Session> {
  if ((name === undefined) === (session_id === undefined)) {
    throw new AppError("invalid_arguments", "Give the session's name or its session_id, one of them.");
  }
  return app.sessions.require(principal, name ?? session_id ?? "");
}
