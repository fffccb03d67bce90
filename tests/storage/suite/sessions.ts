import { expect, test } from "bun:test";
import { ANY_NUMBER, newConfig, newSession, newToken, runningTurn } from "../rows.ts";
import { END, NOW, type OpenForRaces, raced, repeated, storedSession } from "./engine.ts";

export function sessionPromises(open: OpenForRaces): void {
  test("a session is found by the name that its owner gave it, and not by another owner", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { id } = await storedSession(storage, { name: "work", owner: "token:1" });
    expect((await storage.sessions.named("token:1", "work"))?.id).toBe(id);
    expect(await storage.sessions.named("operator", "work")).toBeUndefined();
    expect(await storage.sessions.named("token:1", id)).toBeUndefined();
  });

  test("changed settings apply at once if no turn runs, otherwise from the next turn on", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [first, second, third] = ["one", "two", "three"].map((model) => newConfig({ model }));
    if (!first || !second || !third) throw new Error("there are three");
    const session = await storedSession(storage, { config: first });
    const update = (from: typeof first, to: typeof first) =>
      storage.sessions.updateIfUnchanged(session.id, { from, to, serversFrom: null }, ANY_NUMBER);
    const kept = async () => {
      const { config, nextConfig } = (await storage.sessions.get(session.id)) ?? {};
      return [config?.model, nextConfig?.model];
    };
    expect(await update(first, second)).toMatchObject({ outcome: "updated", session: { config: second } });
    expect(await kept()).toEqual(["two", undefined]);

    const turn = await runningTurn(storage, session);
    const waitingLonger = { ...third, loopback_timeout_secs: 77 };
    expect(await update(second, waitingLonger)).toMatchObject({ outcome: "updated" });
    expect(await kept()).toEqual(["two", "three"]);
    expect((await storage.sessions.get(session.id))?.loopbackTimeoutSecs).toBe(77);
    // The comparison is with the next settings, not with those of the running turn.
    expect(await update(second, first)).toEqual({ outcome: "changed" });
    await storage.turns.endIfRunning(turn, END, NOW);
    expect(await kept()).toEqual(["three", undefined]);
  });

  test("a cached session shows changes by any server", async () => {
    await using opened = await open();
    const [one, other] = opened.connections;
    const { id, config: from } = await storedSession(one, { config: newConfig({ model: "first" }) });
    for (const server of [one, other]) expect((await server.sessions.get(id))?.config?.model).toBe("first");
    if (!from) throw new Error("it has settings");
    const to = newConfig({ model: "second" });
    await one.sessions.updateIfUnchanged(id, { from, to, serversFrom: null }, ANY_NUMBER);
    for (const server of [one, other]) expect((await server.sessions.get(id))?.config?.model).toBe("second");
    const byHand = newSession({ name: "by hand", kind: "by_hand", seenAt: 1_000 });
    await one.sessions.createIfNameFree(byHand, "none", ANY_NUMBER);
    for (const at of [1_500, 9_000, 9_500]) {
      await one.sessions.noteSeen(byHand.id, at);
      for (const server of [one, other])
        expect((await server.sessions.get(byHand.id))?.seenAt).toBe(at < 9_000 ? 1_000 : 9_000);
    }
    await other.sessions.removeIfIdle(id, undefined);
    for (const server of [one, other]) expect(await server.sessions.get(id)).toBeUndefined();
  });

  test("the first of two changes of the same settings wins, and the second is refused", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const from = newConfig({ model: "first" });
      const { id } = await storedSession(storage, { config: from });
      const to = ["a", "b"].map((model) => newConfig({ model }));
      const changes = to.map((config) => ({ from, to: config, serversFrom: null }));
      const outcomes = await raced(
        opened,
        changes.map((change) => (one) => one.sessions.updateIfUnchanged(id, change, ANY_NUMBER)),
      );
      expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(["changed", "updated"]);
      const won = to[outcomes.findIndex(({ outcome }) => outcome === "updated")];
      expect((await storage.sessions.get(id))?.config?.model).toBe(won?.model ?? "");
    });
  });

  test("a revoked token creates, changes and removes no session", async () => {
    await using opened = await open();
    const { storage, connections } = opened;
    const { sessions } = connections[1];
    await storage.tokens.createIfNameFree(newToken({ id: "t1" }));
    const from = newConfig();
    const session = await storedSession(storage, { owner: "token:t1", config: from });
    const made = newSession({ owner: "token:t1", name: "made" });
    const ended = await runningTurn(storage, session);
    await storage.turns.endIfRunning(ended, END, NOW);
    await storage.tokens.revoke("t1", "token:t1", NOW);
    expect(await sessions.createIfNameFree(made, "none", ANY_NUMBER, "t1")).toEqual({ outcome: "revoked" });
    const change = { from, to: newConfig({ model: "other" }), serversFrom: null };
    expect(await sessions.updateIfUnchanged(session.id, change, ANY_NUMBER, "t1")).toEqual({ outcome: "revoked" });
    expect(await sessions.removeTurnsIfIdle(session.id, 100, "t1")).toBe("revoked");
    expect(await sessions.removeIfIdle(session.id, "t1")).toBe("revoked");
    expect(await storage.sessions.get(session.id)).toMatchObject({ config: from });
    expect(await storage.turns.get(ended.id)).toBeDefined();
    expect(await storage.sessions.get(made.id)).toBeUndefined();
  });

  test("settings grow only up to their owner's limit, and freed space can be used again", async () => {
    await using opened = await open();
    const { storage } = opened;
    const small = newConfig();
    const large = newConfig({ system_prompt: "x".repeat(10_000) });
    const most = { count: 10, bytes: 8_000 };
    const { id } = await storedSession(storage, { config: small });
    const update = (from: typeof small, to: typeof small, bound = most) =>
      storage.sessions.updateIfUnchanged(id, { from, to, serversFrom: null }, bound);
    expect(await update(small, large)).toMatchObject({ outcome: "too_many", size: { count: 1 } });
    expect((await storage.sessions.get(id))?.config).toEqual(small);
    expect(await update(small, large, ANY_NUMBER)).toMatchObject({ outcome: "updated" });
    expect(await update(large, small)).toMatchObject({ outcome: "updated" });
    expect(await update(small, { ...small, model: "other" })).toMatchObject({ outcome: "updated" });
    const absent = newSession();
    const change = { from: small, to: large, serversFrom: null };
    expect(await storage.sessions.updateIfUnchanged(absent.id, change, most)).toEqual({ outcome: "no_session" });
  });
}
