import { describe, expect, test } from "bun:test";
import { newSession, newToken } from "../rows.ts";
import { temporaryStorage } from "../temporary-storage.ts";

describe("sessions", () => {
  test("have names that are unique for one owner, and free for another", async () => {
    await using storage = await temporaryStorage();
    const create = (owner: string) => storage.write(() => storage.sessions.createIfNameFree(newSession({ owner })));
    expect(await create("operator")).toBeDefined();
    expect(await create("operator")).toBeUndefined();
    expect(await create("token:1")).toBeDefined();
  });

  test("are found by id, else by the name that this owner gave", async () => {
    await using storage = await temporaryStorage();
    const { sessions, write } = storage;
    const mine = newSession({ name: "work" });
    const other = newSession({ name: "work", owner: "token:1" });
    const confusing = newSession({ name: mine.id });
    await write(() => [confusing, mine, other].map(sessions.createIfNameFree));
    expect(sessions.find("operator", "work")?.id).toBe(mine.id);
    expect(sessions.find("token:1", "work")?.id).toBe(other.id);
    expect(sessions.find("token:2", "work")).toBeUndefined();
    expect(sessions.find("operator", mine.id)?.id).toBe(mine.id);
  });
});

describe("tokens", () => {
  test("have names that are unique among the named ones", async () => {
    await using storage = await temporaryStorage();
    const { sessions, tokens, write } = storage;
    const session = newSession();
    await write(() => sessions.createIfNameFree(session));
    const child = () => newToken({ kind: "child", name: null, sessionId: session.id });
    expect(await write(() => tokens.createIfNameFree(newToken()))).toBeDefined();
    expect(await write(() => tokens.createIfNameFree(newToken()))).toBeUndefined();
    expect(await write(() => tokens.createIfNameFree(child()))).toBeDefined();
    expect(await write(() => tokens.createIfNameFree(child()))).toBeDefined();
    expect(tokens.listNamed()).toHaveLength(1);
  });

  test("are free again once removed", async () => {
    await using storage = await temporaryStorage();
    const { tokens, write } = storage;
    const token = newToken();
    await write(() => tokens.createIfNameFree(token));
    expect((await write(() => tokens.removeNamed("ci")))?.id).toBe(token.id);
    expect(tokens.get(token.id)).toBeUndefined();
    expect(await write(() => tokens.createIfNameFree(newToken()))).toBeDefined();
  });

  test("can't belong to a session that does not exist", async () => {
    await using storage = await temporaryStorage();
    const orphan = newToken({ kind: "child", name: null, sessionId: "none" });
    await expect(storage.write(() => storage.tokens.createIfNameFree(orphan))).rejects.toThrow("FOREIGN KEY");
  });
});
