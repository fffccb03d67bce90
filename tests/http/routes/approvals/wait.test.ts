import { describe, expect, test } from "bun:test";
import { Waited } from "../../../../src/contract/tools/wait-answers.ts";
import { type Plexus, startPlexus } from "../../../support/server/plexus.ts";
import { until } from "../../../support/until.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../../support/callers.ts";

const OPERATOR = { kind: "operator" } as const;

describe("POST /api/v1/wait", () => {
  test("answers at once if there is nothing to wait for", async () => {
    await using plexus = await startPlexus();
    expect(await told(plexus, { timeout_secs: 60 })).toEqual({ type: "idle", cursor: 0 });
  });

  test("returns as soon as there is a request, with its whole input", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR, "by hand");
    const waiting = told(plexus, { session_id: "by hand", timeout_secs: 60 });
    const input = { command: "x".repeat(50_000) };
    using asked = await ask(plexus, session, { input });
    expect(await waiting).toMatchObject({ type: "ok", approvals: [{ id: asked.approvalId, input }], finished: [] });
  });

  test("shows a named token only its own requests", async () => {
    await using plexus = await startPlexus();
    const { token, principal } = await namedToken(plexus, "ci");
    using _ = await ask(plexus, (await sessionOf(plexus, OPERATOR)).session);
    expect(await told(plexus, {}, token)).toMatchObject({ type: "idle" });
    const { session } = await sessionOf(plexus, principal);
    using asked = await ask(plexus, session);
    expect(await told(plexus, {}, token)).toMatchObject({ approvals: [{ id: asked.approvalId }] });
    await expectRefusal(await wait(plexus, { session_id: "worker" }, token), 404, "not_found");
  });

  test("is not for children", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    await expectRefusal(await wait(plexus, {}, token), 403, "forbidden");
  });

  test("ends when its caller's token is revoked", async () => {
    await using plexus = await startPlexus();
    const { token, principal } = await namedToken(plexus, "ci");
    await sessionOf(plexus, principal);
    const waiting = wait(plexus, { timeout_secs: 60 }, token);
    let isOver = false;
    void waiting.then(() => {
      isOver = true;
    });
    await until("the wait", async () => (await plexus.fetch("/healthz")).ok);
    expect(isOver).toBe(false);
    await plexus.app.tokens.revoke("ci");
    await expectRefusal(await waiting, 401, "unauthorized");
  });

  test("is answered as a time-out when the server stops", async () => {
    const plexus = await startPlexus();
    await sessionOf(plexus, OPERATOR);
    const waiting = told(plexus, { timeout_secs: 110 });
    await until("the wait", async () => (await plexus.fetch("/healthz")).ok);
    await plexus[Symbol.asyncDispose]();
    expect(await waiting).toMatchObject({ type: "timeout" });
  });
});

function wait(plexus: Plexus, body: object, token?: string): Promise<Response> {
  return plexus.fetch("/api/v1/wait", { method: "POST", body: JSON.stringify(body), ...(token && { token }) });
}

async function told(plexus: Plexus, body: object, token?: string): Promise<Waited> {
  const response = await wait(plexus, body, token);
  expect(response.status).toBe(200);
  return Waited.parse(await response.json());
}
