import { describe, expect, test } from "bun:test";
import { createMcpEndpoint } from "../../../src/mcp/endpoint.ts";
import { ask, namedToken, sessionOf } from "../../http/support/callers.ts";
import { modernHeaders, modernMessage, postModern } from "../../support/mcp/modern-mcp.ts";
import type { RawStream } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";

const OPERATOR = { kind: "operator" } as const;
const PENDING = "loopback://approvals/pending";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** A stream of new requests. Its first message lists what it was promised. */
async function listen(plexus: Plexus, token = OPERATOR_TOKEN, filter: object = { resourceSubscriptions: [PENDING] }) {
  const stream = await postModern(plexus.url, "subscriptions/listen", { notifications: filter }, { token, id: "mine" });
  return { stream, promised: await nextMessage(stream) };
}

/** The next message, without keep-alive events. */
async function nextMessage(stream: RawStream) {
  for (;;) {
    const event = await stream.next();
    if (!event || event.message) return event?.message;
  }
}

describe("subscriptions/listen", () => {
  test("acknowledges first, then reports each new request, both with the id of the subscription", async () => {
    await using plexus = await startPlexus();
    const { stream, promised } = await listen(plexus);
    expect(promised).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { resourceSubscriptions: [PENDING] }, _meta: { [SUBSCRIPTION]: "mine" } },
    });
    const { session } = await sessionOf(plexus, OPERATOR);
    for (const tool_use_id of ["toolu_1", "toolu_2"]) {
      await ask(plexus, session, { tool_use_id });
      expect(await nextMessage(stream)).toMatchObject({
        method: "notifications/resources/updated",
        params: { uri: PENDING, _meta: { [SUBSCRIPTION]: "mine" } },
      });
    }
    stream.disconnect();
  });

  test("acknowledges nothing that does not exist, and then ends", async () => {
    await using plexus = await startPlexus();
    const others = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const filter = { ...others, resourceSubscriptions: ["x:y", "loopback://approvals"] };
    const { stream, promised } = await listen(plexus, OPERATOR_TOKEN, filter);
    expect(promised?.params).toMatchObject({ notifications: {} });
    expect(promised?.params?.["notifications"]).toEqual({});
    expect(await nextMessage(stream)).toMatchObject({ id: "mine", result: { resultType: "complete" } });
    expect(await nextMessage(stream)).toBeUndefined();
  });

  test("reports only its own children's requests to a named token", async () => {
    await using plexus = await startPlexus();
    const { token, principal } = await namedToken(plexus, "parent");
    const { stream } = await listen(plexus, token);
    const own = await sessionOf(plexus, principal);
    const other = await sessionOf(plexus, OPERATOR);
    const told = nextMessage(stream);
    await ask(plexus, other.session);
    await ask(plexus, own.session);
    expect(await told).toMatchObject({ method: "notifications/resources/updated" });
    await plexus.app.tokens.revoke("parent");
    expect(await nextMessage(stream)).toBeUndefined();
  });

  test("ends when the token is revoked", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "short-lived");
    const { stream } = await listen(plexus, token);
    await plexus.app.tokens.revoke("short-lived");
    expect(await nextMessage(stream)).toBeUndefined();
  });

  test("is ended with an answer by a server that stops", async () => {
    const plexus = await startPlexus();
    const { stream } = await listen(plexus);
    const ended = nextMessage(stream);
    await plexus[Symbol.asyncDispose]();
    expect(await ended).toMatchObject({ id: "mine", result: { resultType: "complete" } });
  });

  test("drops a client that has left a hundred notifications unread", async () => {
    await using plexus = await startPlexus();
    await using endpoint = createMcpEndpoint(plexus.app);
    const held = { stayOpen: () => new DisposableStack(), stayOpenWithBody: () => new DisposableStack() };
    const message = modernMessage("subscriptions/listen", { notifications: { resourceSubscriptions: [PENDING] } });
    const response = await endpoint.handle(
      new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers: { ...modernHeaders("subscriptions/listen"), "content-type": "application/json" },
      }),
      { principal: OPERATOR, anonymous: false, held, stopping: new AbortController().signal, isLate: false },
      message,
    );
    const { session } = await sessionOf(plexus, OPERATOR);
    for (let count = 0; count < 110; count++) await ask(plexus, session, { tool_use_id: `toolu_${count}` });
    // Without an end of the stream, this would wait for ever.
    const told = (await response.text()).split("notifications/resources/updated").length - 1;
    expect(told).toBe(100);
  });
});
