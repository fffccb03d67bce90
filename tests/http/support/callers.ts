import { expect } from "bun:test";
import type { App } from "../../../src/app.ts";
import { ErrorBody, type ErrorCode } from "../../../src/contract/refusals/errors.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import type { Plexus } from "../../support/server/plexus.ts";

/** Creates a named token; returns it with its principal. */
export async function namedToken(plexus: Plexus, name: string) {
  const created = await plexus.app.tokens.createNamed(name);
  return { ...created, principal: { kind: "token" as const, id: created.id, name } };
}

/** Creates a session as this principal, with its child's token. */
export async function sessionOf(
  plexus: Plexus,
  principal: Parameters<App["sessions"]["createByHand"]>[0],
  name?: string,
) {
  const session = await plexus.app.sessions.createByHand(principal, name);
  return { session, token: await plexus.app.tokens.createForChild(session.id) };
}

type Asking = { tool_name?: string; input?: JsonObject; tool_use_id?: string };

/** Files a request and waits for its answer, as a child does, until the server stops. */
export async function ask(
  plexus: Plexus,
  session: Awaited<ReturnType<typeof sessionOf>>["session"],
  asking: Asking = {},
) {
  return plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "ls" }, ...asking });
}

/** Expects a refusal in the form of every REST route. */
export async function expectRefusal(response: Response, status: number, code: ErrorCode): Promise<string> {
  const text = await response.text();
  expect({ status: response.status, body: text && ErrorBody.parse(JSON.parse(text)).error.code }).toEqual({
    status,
    body: code,
  });
  expect(response.headers.get("content-type")).toStartWith("application/json");
  return text;
}
