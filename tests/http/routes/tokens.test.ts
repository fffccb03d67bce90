import { describe, expect, test } from "bun:test";
import { TokenCreated, TokenList } from "../../../src/contract/routes/tokens.ts";
import { SignedIn, SignInCode } from "../../../src/contract/sign-in.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { expectRefusal, namedToken } from "../support/callers.ts";

function create(plexus: Plexus, body: unknown, token?: string): Promise<Response> {
  return plexus.fetch("/api/v1/tokens", { method: "POST", body: JSON.stringify(body), ...(token && { token }) });
}

describe("/api/v1/tokens", () => {
  test("creates a token that works at once, and shows its secret only once", async () => {
    await using plexus = await startPlexus();
    const response = await create(plexus, { name: "laptop" });
    expect(response.status).toBe(201);
    const { token, type: _, ...listed } = TokenCreated.parse(await response.json());
    expect(token).toMatch(/^plx_[\w-]+_[\w-]{43}$/);
    const list = await plexus.fetch("/api/v1/tokens");
    expect(await list.json()).toEqual({ type: "ok", tokens: [listed] });
    expect((await plexus.fetch("/api/v1/approvals", { token })).status).toBe(200);
  });

  test("shows when a token or a page of it was last used, to the minute", async () => {
    const clock = { now: Date.UTC(2026, 5, 15) };
    await using plexus = await startPlexus({ clocks: { now: () => clock.now } });
    const { token } = await namedToken(plexus, "laptop");
    const lastUsed = async () =>
      TokenList.parse(await (await plexus.fetch("/api/v1/tokens")).json()).tokens[0]?.last_used_at ?? null;
    const used = (at: number) => until(`used at ${at}`, async () => (await lastUsed()) === at);
    expect(await lastUsed()).toBeNull();
    const first = clock.now / 1000;
    await plexus.fetch("/api/v1/approvals", { token });
    await used(first);
    clock.now += 30_000;
    await plexus.fetch("/api/v1/approvals", { token });
    clock.now += 60_000;
    await plexus.fetch("/api/v1/approvals", { token });
    await used(first + 90);
    const { code } = SignInCode.parse(await (await plexus.fetch("/api/v1/me/codes", { method: "POST", token })).json());
    const signIn = { method: "POST", body: JSON.stringify({ code }), token: null };
    const page = SignedIn.parse(await (await plexus.fetch("/api/v1/sign-in", signIn)).json());
    clock.now += 90_000;
    await plexus.fetch("/api/v1/approvals", { token: page.token });
    await used(first + 180);
  });

  test("refuses a name in use with 409, and leaves the existing token unchanged", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "laptop");
    await expectRefusal(await create(plexus, { name: "laptop" }), 409, "name_taken");
    expect((await plexus.fetch("/api/v1/approvals", { token })).status).toBe(200);
  });

  test.each([
    {},
    { name: "" },
    { name: null },
    { name: "a".repeat(101) },
    { name: "a/b" },
    { name: "-x" },
    { name: "a\nb" },
    { name: "a", admin: true },
  ])("refuses %j with 422", async (body) => {
    await using plexus = await startPlexus();
    await expectRefusal(await create(plexus, body), 422, "invalid_arguments");
  });

  test("revokes a token, which is refused from then on", async () => {
    await using plexus = await startPlexus();
    const { token, id } = await namedToken(plexus, "work laptop @home");
    const response = await plexus.fetch(`/api/v1/tokens/${encodeURIComponent("work laptop @home")}`, {
      method: "DELETE",
    });
    expect(await response.json()).toMatchObject({ type: "revoked", id, name: "work laptop @home" });
    await expectRefusal(await plexus.fetch("/api/v1/approvals", { token }), 401, "unauthorized");
  });

  test("gives a new token with a revoked token's name nothing that the old one had", async () => {
    await using plexus = await startPlexus();
    const old = await namedToken(plexus, "laptop");
    const session = await plexus.app.sessions.createByHand(old.principal);
    await plexus.app.approvals.request(session, { tool_name: "Bash", input: {} });
    await plexus.fetch("/api/v1/tokens/laptop", { method: "DELETE" });
    const { token } = await namedToken(plexus, "laptop");
    expect(await (await plexus.fetch("/api/v1/approvals", { token })).json()).toMatchObject({ approvals: [] });
  });

  test("is not_found for a name that no token has", async () => {
    await using plexus = await startPlexus();
    await expectRefusal(await plexus.fetch("/api/v1/tokens/nobody", { method: "DELETE" }), 404, "not_found");
  });

  test("revokes no token by its id, and never a child's token", async () => {
    await using plexus = await startPlexus();
    const named = await namedToken(plexus, "laptop");
    const child = await plexus.child();
    const childId = child.token.split("_")[1];
    for (const name of [named.id, childId, child.sessionId]) {
      await expectRefusal(await plexus.fetch(`/api/v1/tokens/${name}`, { method: "DELETE" }), 404, "not_found");
    }
  });

  test("is for the operator only", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "laptop");
    await expectRefusal(await plexus.fetch("/api/v1/tokens", { token }), 403, "forbidden");
    await expectRefusal(await create(plexus, { name: "more" }, token), 403, "forbidden");
    await expectRefusal(await plexus.fetch("/api/v1/tokens/laptop", { method: "DELETE", token }), 403, "forbidden");
    expect((await plexus.fetch("/api/v1/approvals", { token })).status).toBe(200);
  });
});
