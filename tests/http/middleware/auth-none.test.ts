import { describe, expect, test } from "bun:test";
import type { Approval } from "../../../src/contract/approvals/approval.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { expectRefusal, namedToken } from "../support/callers.ts";

const start = () => startPlexus({ flags: { auth: "none" } });
const args = { tool_name: "Bash", input: { command: "ls" } };

/** Sends a permit as `curl` would: one POST, no handshake. */
function permit(plexus: Plexus, path = "/mcp", init: RequestInit & { token?: string } = {}) {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "loopback_permit", arguments: args },
  });
  return plexus.fetch(path, { token: null, method: "POST", body, ...init });
}

async function pending(plexus: Plexus, count = 1): Promise<Approval[]> {
  return until(`${count} pending`, async () => {
    const approvals = (await plexus.app.approvals.pending({ kind: "operator" }, undefined, 100)).approvals;
    return approvals.length === count ? approvals : undefined;
  });
}

describe("with --auth none, a request without a token", () => {
  test("is the operator's", async () => {
    await using plexus = await start();
    const listed = await plexus.fetch("/api/v1/tokens", { token: null });
    expect(await listed.json()).toEqual({ type: "ok", tokens: [] });
  });

  test("has the deciders' tools and loopback_permit", async () => {
    await using plexus = await start();
    const { client } = await plexus.connect(null);
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    expect(names.filter((name) => name.startsWith("loopback_")).sort()).toEqual([
      "loopback_configure",
      "loopback_get",
      "loopback_pending",
      "loopback_permit",
      "loopback_respond",
      "loopback_rule_add",
      "loopback_rule_remove",
      "loopback_rule_suggest",
      "loopback_rule_test",
      "loopback_rules",
      "loopback_wait",
    ]);
  });

  test("decides a permit over plain REST", async () => {
    await using plexus = await start();
    const asked = permit(plexus);
    const [approval] = await pending(plexus);
    const decided = await plexus.fetch(`/api/v1/approvals/${approval?.id}/respond`, {
      token: null,
      method: "POST",
      body: JSON.stringify({ approve: true }),
    });
    expect(await decided.json()).toEqual({ type: "ok", approval_id: approval?.id ?? "", status: "allowed" });
    expect(await (await asked).text()).toContain(
      String.raw`{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"ls\"}}`,
    );
  });

  test("files its permit under the name in ?session_id=, creating that session with the first permit", async () => {
    await using plexus = await start();
    void permit(plexus, "/mcp?session_id=reviewer");
    const [first] = await pending(plexus);
    expect(first?.session_name).toBe("reviewer");
    void permit(plexus, "/mcp?session_id=reviewer");
    const both = await pending(plexus, 2);
    expect(new Set(both.map((approval) => approval.session_id)).size).toBe(1);
  });

  test("files its permit under the session whose id is in ?session_id=", async () => {
    await using plexus = await start();
    const session = await plexus.app.sessions.createByHand({ kind: "operator" }, "known");
    void permit(plexus, `/mcp?session_id=${session.id}`);
    const [approval] = await pending(plexus);
    expect(approval).toMatchObject({ session_id: session.id, session_name: "known" });
  });

  test("files many first permits at once under one session", async () => {
    await using plexus = await start();
    for (let index = 0; index < 20; index++) void permit(plexus, "/mcp?session_id=crowd");
    const approvals = await pending(plexus, 20);
    expect(new Set(approvals.map((approval) => approval.session_id)).size).toBe(1);
  });

  test("is refused if ?session_id= is not a valid name", async () => {
    await using plexus = await start();
    for (const name of ["", "%00", "../x", "a".repeat(101), "%F0%9F%92%A3", "-x"]) {
      const text = await (await permit(plexus, `/mcp?session_id=${name}`)).text();
      expect({ name, refused: text.includes("invalid_arguments") }).toEqual({ name, refused: true });
    }
    expect((await plexus.app.approvals.pending({ kind: "operator" }, undefined, 10)).approvals).toEqual([]);
  });

  test("files the permits of each MCP session under its own session", async () => {
    await using plexus = await start();
    const [one, other] = [await plexus.connect(null), await plexus.connect(null)];
    for (const client of [one, one, other]) void client.call("loopback_permit", args).catch(() => {});
    const approvals = await pending(plexus, 3);
    const counts = Map.groupBy(approvals, (approval) => approval.session_id)
      .values()
      .map((group) => group.length);
    expect([...counts].sort()).toEqual([1, 2]);
  });

  test("is refused from another origin", async () => {
    await using plexus = await start();
    const response = await permit(plexus, "/mcp", { headers: { origin: "http://localhost:3000" } });
    await expectRefusal(response, 403, "forbidden");
  });
});

describe("with --auth none, a request with a token", () => {
  test("of a child may do nothing but its own permit", async () => {
    await using plexus = await start();
    const child = await plexus.child();
    await expectRefusal(await plexus.fetch("/api/v1/approvals", { token: child.token }), 403, "forbidden");
    const { client } = await plexus.connect(child.token);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["loopback_permit"]);
  });

  test("of a child ignores ?session_id= and the session_id argument", async () => {
    await using plexus = await start();
    const child = await plexus.child();
    const other = await plexus.child("other");
    void permit(plexus, `/mcp?session_id=${other.sessionId}`, { token: child.token });
    const connected = await plexus.connect(child.token);
    void connected.call("loopback_permit", { ...args, session_id: other.sessionId }).catch(() => {});
    const approvals = await pending(plexus, 2);
    expect(approvals.map((approval) => approval.session_id)).toEqual([child.sessionId, child.sessionId]);
  });

  test("of a named token sees only what that token created", async () => {
    await using plexus = await start();
    const { token } = await namedToken(plexus, "laptop");
    void permit(plexus);
    await pending(plexus);
    const listed = await plexus.fetch("/api/v1/approvals", { token });
    expect(await listed.json()).toMatchObject({ approvals: [] });
  });

  test("is refused if the token is wrong", async () => {
    await using plexus = await start();
    await expectRefusal(await plexus.fetch("/api/v1/approvals", { token: "wrong" }), 401, "unauthorized");
  });
});
