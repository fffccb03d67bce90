import { describe, expect, test } from "bun:test";
import { SignedIn, SignInCode } from "../../../src/contract/sign-in.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { expectRefusal, namedToken } from "../support/callers.ts";
import { openEvents } from "../support/event-reader.ts";
import { startPaced } from "../support/paced-server.ts";

async function newCode(plexus: Plexus, token?: string): Promise<string> {
  const response = await plexus.fetch("/api/v1/me/codes", { method: "POST", ...(token && { token }) });
  return SignInCode.parse(await response.json()).code;
}

function redeem(plexus: Plexus, code: string): Promise<Response> {
  return plexus.fetch("/api/v1/sign-in", { method: "POST", token: null, body: JSON.stringify({ code }) });
}

async function webToken(plexus: Plexus, token?: string): Promise<string> {
  return SignedIn.parse(await (await redeem(plexus, await newCode(plexus, token))).json()).token;
}

async function nameOf(plexus: Plexus, token: string): Promise<string> {
  const response = await plexus.fetch("/api/v1/me", { token });
  const { name } = (await response.json()) as { name?: string };
  return name ?? String(response.status);
}

describe("a sign-in code", () => {
  test("is exchanged once for a token of its creator", async () => {
    await using plexus = await startPlexus();
    const code = await newCode(plexus);
    const { token } = SignedIn.parse(await (await redeem(plexus, code)).json());
    expect(await nameOf(plexus, token)).toBe("operator");
    await expectRefusal(await redeem(plexus, code), 401, "unauthorized");
  });

  test("gives only one token, however many clients send it at once", async () => {
    await using plexus = await startPlexus();
    const code = await newCode(plexus);
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await redeem(plexus, code)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  test("is invalid after ten minutes", async () => {
    let now = Date.now();
    await using plexus = await startPlexus({ clocks: { now: () => now } });
    const code = await newCode(plexus);
    now += 10 * 60_000;
    await expectRefusal(await redeem(plexus, code), 401, "unauthorized");
  });

  test("is created for deciders, never for a child or a stranger", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    const path = "/api/v1/me/codes";
    await expectRefusal(await plexus.fetch(path, { method: "POST", token }), 403, "forbidden");
    await expectRefusal(await plexus.fetch(path, { method: "POST", token: null }), 401, "unauthorized");
  });

  test("that is wrong is limited like a wrong token, and a valid one is never delayed", async () => {
    await using plexus = await startPlexus();
    const statuses: number[] = [];
    for (let tries = 0; tries < 101; tries++) statuses.push((await redeem(plexus, `wrong-${tries}`)).status);
    expect(statuses.slice(0, 100)).toEqual(Array(100).fill(401));
    expect(statuses[100]).toBe(429);
    expect((await redeem(plexus, await newCode(plexus))).status).toBe(200);
  });

  test("is never displaced by codes of another creator", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "evil");
    const mine = await newCode(plexus);
    const theirs: string[] = [];
    for (let count = 0; count < 120; count++) theirs.push(await newCode(plexus, token));
    expect((await redeem(plexus, mine)).status).toBe(200);
    const redeemed: number[] = [];
    for (const code of theirs.slice(-21)) redeemed.push((await redeem(plexus, code)).status);
    expect(redeemed).toEqual([401, ...Array(20).fill(200)]);
  });

  test("appears in no log, and neither does its token", async () => {
    await using plexus = await startPlexus();
    const code = await newCode(plexus);
    const { token } = SignedIn.parse(await (await redeem(plexus, code)).json());
    await redeem(plexus, code);
    const log = plexus.log.join("");
    expect(log).not.toContain(code);
    expect(log).not.toContain(token);
  });
});

describe("the token of a page", () => {
  test("acts as the named token that created it, and ends with that token", async () => {
    await using plexus = await startPlexus();
    const { token: named } = await plexus.app.tokens.createNamed("night-shift");
    const token = await webToken(plexus, named);
    expect(await nameOf(plexus, token)).toBe("token:night-shift");
    await expectRefusal(await plexus.fetch("/api/v1/tokens", { token }), 403, "forbidden");
    const code = await newCode(plexus, named);
    await plexus.app.tokens.revoke("night-shift");
    expect(await nameOf(plexus, token)).toBe("401");
    await expectRefusal(await redeem(plexus, code), 401, "unauthorized");
  });

  test("ends with signing out, which ends no other token", async () => {
    await using plexus = await startPlexus();
    const [mine, other] = [await webToken(plexus), await webToken(plexus)];
    const out = () => plexus.fetch("/api/v1/me/sign-out", { method: "POST", token: mine });
    expect(await (await out()).json()).toEqual({ type: "signed_out" });
    expect((await out()).status).toBe(401);
    expect(await nameOf(plexus, other)).toBe("operator");
    expect(await (await plexus.fetch("/api/v1/me/sign-out", { method: "POST" })).json()).toEqual({
      type: "not_signed_in",
    });
  });

  test("ends together with all others, their streams and the unused codes", async () => {
    await using plexus = await startPlexus();
    const { token: named, principal } = await namedToken(plexus, "night-shift");
    const pages = [await webToken(plexus), await webToken(plexus, named)];
    const code = await newCode(plexus);
    await using mine = await openEvents(plexus.url, { token: pages[0] ?? "" });
    await using theirs = await openEvents(plexus.url, { token: pages[1] ?? "" });
    await using other = await openEvents(plexus.url, { token: named });
    const end = (query: string, token?: string) =>
      plexus.fetch(`/api/v1/tokens${query}`, { method: "DELETE", ...(token && { token }) });
    await expectRefusal(await end("?kind=web", named), 403, "forbidden");
    for (const query of ["", "?kind=named", "?kind="]) await expectRefusal(await end(query), 422, "invalid_arguments");
    expect(await nameOf(plexus, pages[0] ?? "")).toBe("operator");

    expect(await (await end("?kind=web")).json()).toEqual({ type: "signed_out", pages: 2 });
    for (const token of pages) expect(await nameOf(plexus, token)).toBe("401");
    for (const stream of [mine, theirs]) expect(await stream.next()).toBeUndefined();
    await expectRefusal(await redeem(plexus, code), 401, "unauthorized");
    expect(await nameOf(plexus, named)).toBe("token:night-shift");
    const session = await plexus.app.sessions.createByHand(principal);
    await plexus.app.approvals.request(session, { tool_name: "Bash", input: {} });
    expect((await other.next())?.event.type).toBe("approval_requested");
  });

  test("closes its open streams when it signs out, or when its creator is revoked", async () => {
    await using plexus = await startPlexus();
    const { token: named } = await plexus.app.tokens.createNamed("night-shift");
    const [mine, theirs] = [await webToken(plexus), await webToken(plexus, named)];
    await using first = await openEvents(plexus.url, { token: mine });
    await using second = await openEvents(plexus.url, { token: theirs });
    await plexus.fetch("/api/v1/me/sign-out", { method: "POST", token: mine });
    expect(await first.next()).toBeUndefined();
    await plexus.app.tokens.revoke("night-shift");
    expect(await second.next()).toBeUndefined();
  });

  test("is refused on /mcp, whose sessions would outlive it", async () => {
    await using plexus = await startPlexus();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const token = await webToken(plexus);
    await expectRefusal(await plexus.fetch("/mcp", { method: "POST", body, token }), 403, "forbidden");
  });

  test("creates no named token, neither on the operator's page nor on another's", async () => {
    await using plexus = await startPlexus();
    const { token: named } = await plexus.app.tokens.createNamed("night-shift");
    const body = JSON.stringify({ name: "for-ever" });
    for (const token of [await webToken(plexus), await webToken(plexus, named)])
      await expectRefusal(await plexus.fetch("/api/v1/tokens", { method: "POST", token, body }), 403, "forbidden");
    const refused = await plexus.fetch("/api/v1/tokens", { method: "POST", token: await webToken(plexus), body });
    expect(await refused.text()).toContain("plexus token create NAME");
    expect((await plexus.app.tokens.listNamed()).map(({ name }) => name)).toEqual(["night-shift"]);
    expect((await plexus.fetch("/api/v1/tokens", { method: "POST", body })).status).toBe(201);
  });

  test("signs no other page in, neither on the operator's page nor on another's", async () => {
    await using plexus = await startPlexus();
    const { token: named } = await plexus.app.tokens.createNamed("night-shift");
    for (const token of [await webToken(plexus), await webToken(plexus, named)]) {
      const refused = await plexus.fetch("/api/v1/me/codes", { method: "POST", token });
      expect(await expectRefusal(refused, 403, "forbidden")).toContain("plexus open");
    }
  });

  test("expires after 30 days", async () => {
    let now = Date.now();
    await using first = await startPlexus({ clocks: { now: () => now } });
    const token = await webToken(first);
    now += 30 * 24 * 60 * 60_000 - 1;
    expect(await nameOf(first, token)).toBe("operator");
    now += 1;
    expect(await nameOf(first, token)).toBe("401");
  });

  test("closes its own open streams, and no others, when it expires", async () => {
    let now = Date.now();
    await using plexus = await startPlexus({ clocks: { now: () => now } });
    await using server = startPaced(plexus.app, { idleSecs: 60, keepAliveMs: 20 });
    const { token: named } = await plexus.app.tokens.createNamed("night-shift");
    await using page = await openEvents(server.url, { token: await webToken(plexus) });
    await using other = await openEvents(server.url, { token: named });
    const [ended, kept] = [page.next(), other.next()];
    await until("the page's stream to be kept alive", () => page.asides.some((line) => line.includes("alive")));
    now += 30 * 24 * 60 * 60_000;
    expect(await ended).toBeUndefined();
    const heard = other.asides.length;
    await until("the other's stream to go on", () => other.asides.length > heard);
    await plexus.app.tokens.revoke("night-shift");
    expect(await kept).toBeUndefined();
  });
});
