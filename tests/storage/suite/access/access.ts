import { expect, test } from "bun:test";
import { newToken } from "../../rows.ts";
import { NOW, type OpenedStorage, type OpenForRaces, raced } from "../engine.ts";

/** The promises of every engine about tokens, sign-in codes, MCP clients and webhooks. */
export function accessPromises(open: OpenForRaces): void {
  test("a code signs in once, not after it expires, and not for a deleted token; the oldest codes are deleted first", async () => {
    await using opened = await open();
    const { storage } = opened;
    await storage.tokens.createIfNameFree(newToken({ id: "t1" }));
    const create = (hash: string, tokenId: string | null, expiresAt = NOW) =>
      storage.signInCodes.create({ hash, tokenId, expiresAt }, 2, 1_000);
    for (const hash of ["1", "2", "3"]) await create(hash, null);
    await create("own", "t1");
    await create("late", "t1", 1_500);
    const redeem = (hash: string, { signInCodes } = storage) =>
      signInCodes.redeem(hash, { ...newToken(), id: storage.newId(), kind: "web" }, 9, 1_500);
    expect(await redeem("1")).toBeUndefined();
    const both = await raced(opened, [
      (connection) => redeem("2", connection),
      (connection) => redeem("2", connection),
    ]);
    expect(both.filter((code) => code !== undefined)).toHaveLength(1);
    expect(await redeem("late")).toBeUndefined();
    await storage.tokens.revoke("t1", "token:t1", NOW);
    expect(await redeem("own")).toBeUndefined();
    await storage.tokens.endEveryWeb();
    expect(await redeem("3")).toBeUndefined();
  });

  test("a revoked token creates no codes and no tokens for children", async () => {
    await using opened = await open();
    const { storage, connections } = opened;
    await storage.tokens.createIfNameFree(newToken({ id: "t1" }));
    const child = newToken({ kind: "child", name: null, sessionId: "one" });
    await storage.tokens.revoke("t1", "token:t1", NOW);
    expect(await connections[1].signInCodes.create({ hash: "1", tokenId: "t1", expiresAt: NOW }, 9, 1_000)).toBe(false);
    expect(await connections[1].tokens.createIfNameFree(child, "t1")).toBe(false);
    expect(await storage.tokens.get(child.id)).toBeUndefined();
  });

  test("a token that one server has deleted is unknown to another at once, even if that one had cached it", async () => {
    await using opened = await open();
    const [one, other] = opened.connections;
    await one.tokens.createIfNameFree(newToken({ id: "t1" }));
    expect(await other.tokens.get("t1")).toMatchObject({ id: "t1" });
    await one.tokens.revoke("t1", "token:t1", NOW);
    expect(await other.tokens.get("t1")).toBeUndefined();
    expect(await one.tokens.get("t1")).toBeUndefined();
  });

  test("a new page's token replaces the oldest ones that act as the same token, and no others", async () => {
    await using opened = await open();
    const { storage } = opened;
    await storage.tokens.createIfNameFree(newToken({ id: "t1" }));
    const create = (id: string, name: string | null, createdAt: number) => signIn(storage, { id, name, createdAt }, 2);
    expect(await create("a", null, 1)).toEqual([]);
    expect(await create("own", "t1", 1)).toEqual([]);
    expect(await create("b", null, 2)).toEqual([]);
    expect(await create("c", null, 3)).toEqual(["a"]);
    expect(await existing(storage, ["a", "b", "c", "own"])).toEqual(["b", "c", "own"]);
  });

  test("pages' tokens are deleted by age in steps, one by one, or all at once, and no other token with them", async () => {
    await using opened = await open();
    const { storage } = opened;
    await storage.tokens.createIfNameFree(newToken({ id: "named", createdAt: 1 }));
    for (const [index, id] of ["a", "b", "c", "d", "e"].entries())
      await signIn(storage, { id, name: null, createdAt: index + 1 }, 9);
    const { removeWebBefore } = storage.tokens;
    expect([await removeWebBefore(3, 1), await removeWebBefore(3, 9), await removeWebBefore(3, 9)]).toEqual([1, 1, 0]);
    await storage.tokens.endWeb("c");
    await storage.tokens.endWeb("named");
    expect((await storage.tokens.endEveryWeb()).sort()).toEqual(["d", "e"]);
    expect(await existing(storage, ["a", "b", "c", "d", "e", "named"])).toEqual(["named"]);
  });

  test("an owner keeps its most recently used MCP clients, and saving a client counts as using it", async () => {
    await using opened = await open();
    const { storage } = opened;
    const save = (id: string, owner: string, usedAt: number) =>
      storage.mcpClients.save({ id, owner, setup: [{ method: id }], usedAt }, 2);
    await save("a", "one", 1);
    await save("b", "one", 2);
    await save("other", "two", 1);
    await save("a", "one", 3);
    await save("c", "one", 4);
    expect(await storage.mcpClients.get("a")).toEqual({ id: "a", owner: "one", setup: [{ method: "a" }], usedAt: 3 });
    expect(await storage.mcpClients.get("b")).toBeUndefined();
    expect(await storage.mcpClients.removeUnusedSince(4, 1)).toBe(1);
    expect(await storage.mcpClients.removeUnusedSince(4, 9)).toBe(1);
    expect(await storage.mcpClients.get("c")).toMatchObject({ usedAt: 4 });
    await storage.mcpClients.remove("c");
    expect(await storage.mcpClients.get("c")).toBeUndefined();
  });

  test("each webhook's position is stored, updated, and deleted once the webhook is not configured", async () => {
    await using opened = await open();
    const { storage } = opened;
    const positions = async () =>
      new Map((await storage.webhooks.positions()).map(({ id, position }) => [id, position]));
    for (const [id, position] of [
      ["a", 1],
      ["b", 2],
      ["a", 3],
    ] as const)
      await storage.webhooks.setPosition({ id, position });
    expect(await positions()).toEqual(
      new Map([
        ["a", 3],
        ["b", 2],
      ]),
    );
    await storage.webhooks.replaceAll([
      { id: "b", position: 5 },
      { id: "c", position: 6 },
    ]);
    expect(await positions()).toEqual(
      new Map([
        ["b", 5],
        ["c", 6],
      ]),
    );
    await storage.webhooks.replaceAll([]);
    expect(await positions()).toEqual(new Map());
  });
}

/** The ids of those tokens that still exist. */
async function existing({ tokens }: OpenedStorage, ids: string[]): Promise<string[]> {
  const found = await Promise.all(ids.map((id) => tokens.get(id)));
  return found.flatMap((token) => token?.id ?? []);
}

/** Signs in a page with a code of the named token, or of the operator. */
async function signIn(
  { signInCodes }: Pick<OpenedStorage, "signInCodes">,
  { id, name, createdAt }: { id: string; name: string | null; createdAt: number },
  kept: number,
) {
  await signInCodes.create({ hash: id, tokenId: name, expiresAt: NOW + 1 }, 9, createdAt);
  return signInCodes.redeem(id, newToken({ id, kind: "web", createdAt }), kept, createdAt);
}
