import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Decider } from "../../../src/core/access/principals.ts";
import { createSignIn, type SignIn } from "../../../src/core/access/sign-in.ts";
import { createTokens, type Tokens } from "../../../src/core/access/tokens.ts";
import { OPERATOR, temporaryCore } from "../open-core.ts";

const OPERATOR_TOKEN = "plx_operator_of-these-tests";

describe("tokens.identify", () => {
  test("identifies the operator, named tokens and children", async () => {
    await using at = await temporaryTokens();
    const { tokens } = at;
    const named = await tokens.createNamed("ci");
    const child = await tokens.createForChild(at.sessionId);
    expect(await tokens.identify(OPERATOR_TOKEN)).toEqual({ principal: { kind: "operator" } });
    expect(await tokens.identify(named.token)).toEqual({ principal: { kind: "token", id: named.id, name: "ci" } });
    expect(await tokens.identify(child)).toEqual({ principal: { kind: "session", sessionId: at.sessionId } });
  });

  test("rejects a token with a small change", async () => {
    await using at = await temporaryTokens();
    const { id, token } = await at.tokens.createNamed("ci");
    const wrong = ["", " ", OPERATOR_TOKEN.slice(1), `${OPERATOR_TOKEN} `, token.slice(0, -1), `${token}x`];
    wrong.push(`plx_${id}_`, `plx_${id}_${"x".repeat(43)}`, id, token.toUpperCase(), "plx__", "plx_operator_", "%_%");
    for (const secret of wrong) expect(await at.tokens.identify(secret)).toBeUndefined();
  });

  test("rejects a revoked token", async () => {
    await using at = await temporaryTokens();
    const { token } = await at.tokens.createNamed("ci");
    await at.tokens.revoke("ci");
    expect(await at.tokens.identify(token)).toBeUndefined();
    expect(await at.tokens.listNamed()).toEqual([]);
    const again = await at.tokens.createNamed("ci");
    expect(await at.tokens.identify(again.token)).toBeDefined();
    expect(await at.tokens.identify(token)).toBeUndefined();
  });
});

describe("tokens.createNamed", () => {
  test("refuses a name in use", async () => {
    await using at = await temporaryTokens();
    const results = await Promise.allSettled([at.tokens.createNamed("ci"), at.tokens.createNamed("ci")]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await expect(at.tokens.createNamed("ci")).rejects.toMatchObject({ code: "name_taken" });
  });

  test("makes a new secret each time, and stores none", async () => {
    await using at = await temporaryTokens();
    const secrets = [await at.tokens.createForChild(at.sessionId), await at.tokens.createForChild(at.sessionId)];
    secrets.push((await at.tokens.createNamed("ci")).token);
    expect(new Set(secrets).size).toBe(3);
    using sqlite = new Database(join(at.dataDir, "plexus.db"), { readonly: true });
    const stored = JSON.stringify(sqlite.query("SELECT * FROM tokens").all());
    for (const secret of secrets) expect(stored).not.toContain(secret.slice(-43));
  });
});

describe("tokens.createForWeb", () => {
  test("keeps the newest hundred pages of each maker, and ends what older pages hold open", async () => {
    await using at = await temporaryTokens();
    const named = (await at.tokens.identify((await at.tokens.createNamed("ci")).token))?.principal;
    if (named?.kind !== "token") throw new Error("a named token is a token");
    const sign = async (maker: Decider) => (await at.signIn.redeem((await at.signIn.newCode(maker)).code))?.token ?? "";
    const [own, first] = [await sign({ kind: "operator" }), await sign(named)];
    const revoked = await at.tokens.revocation((await at.tokens.identify(first)) ?? { principal: named });
    const later = [];
    for (let page = 0; page < 100; page++) later.push(await sign(named));
    expect([revoked.aborted, await at.tokens.identify(first)]).toEqual([true, undefined]);
    for (const token of [own, ...later]) expect(await at.tokens.identify(token)).toBeDefined();
  });

  test("makes no token if the maker was revoked meanwhile", async () => {
    await using at = await temporaryTokens();
    const { id } = await at.tokens.createNamed("ci");
    const { code } = await at.signIn.newCode({ kind: "token", id, name: "ci" });
    const [, page] = await Promise.all([at.tokens.revoke("ci"), at.signIn.redeem(code)]);
    expect(page === undefined || (await at.tokens.identify(page.token)) === undefined).toBe(true);
  });

  test("leaves no page signed in that redeemed its code while all pages were signed out", async () => {
    await using at = await temporaryTokens();
    for (let round = 0; round < 20; round++) {
      const { code } = await at.signIn.newCode({ kind: "operator" });
      const both = [() => at.signIn.redeem(code), () => at.signIn.endAll()];
      if (round % 2 === 1) both.reverse();
      const results = await Promise.all(both.map((act) => act()));
      for (const page of results) {
        if (typeof page === "object") expect(await at.tokens.identify(page.token)).toBeUndefined();
      }
    }
  });
});

describe("tokens.revoke", () => {
  test("ends everything that the token holds open", async () => {
    await using at = await temporaryTokens();
    const { token } = await at.tokens.createNamed("ci");
    const holder = (await at.tokens.identify(token)) ?? { principal: OPERATOR };
    const signal = await at.tokens.revocation(holder);
    expect(signal.aborted).toBe(false);
    await at.tokens.revoke("ci");
    expect(signal.aborted).toBe(true);
    expect((await at.tokens.revocation(holder)).aborted).toBe(true);
    expect((await at.tokens.revocation({ principal: OPERATOR })).aborted).toBe(false);
  });

  test("refuses an unknown name", async () => {
    await using at = await temporaryTokens();
    await expect(at.tokens.revoke("none")).rejects.toMatchObject({ code: "not_found" });
  });
});

type TemporaryTokens = AsyncDisposable & { tokens: Tokens; signIn: SignIn; sessionId: string; dataDir: string };

async function temporaryTokens(): Promise<TemporaryTokens> {
  const core = await temporaryCore();
  const session = await core.session();
  const { storage } = core;
  const tokens = createTokens({ storage, operatorToken: OPERATOR_TOKEN, now: Date.now, onError: console.error });
  return {
    tokens,
    signIn: createSignIn({ storage, tokens, now: Date.now }),
    sessionId: session.id,
    dataDir: core.dataDir,
    [Symbol.asyncDispose]: () => core[Symbol.asyncDispose](),
  };
}
