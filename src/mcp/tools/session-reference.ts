import type { Principal, Session } from "../../app.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { ToolCall } from "./declaration/tool.ts";

type Reference = { name?: string | undefined; session_id?: string | undefined };

/** The session that a call names, by name or by id. */
export async function sessionOf({ app, principal }: Caller, { name, session_id }: Reference): Promise<Session> {
  if ((name === undefined) === (session_id === undefined)) {
    throw new AppError("invalid_arguments", "Give the session's name or its session_id, one of them.");
  }
  return await app.sessions.require(principal, name ?? session_id ?? "");
}

/** The id of the session to which a call is limited, if it names one. */
export async function onlyIn({ app, principal }: Caller, key: string | undefined): Promise<string | undefined> {
  return key === undefined ? undefined : (await app.sessions.require(principal, key)).id;
}

type Caller = { app: Pick<ToolCall["app"], "sessions">; principal: Principal };
