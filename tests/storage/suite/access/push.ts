import { expect, test } from "bun:test";
import type { PushSubscriptionRow } from "../../../../src/storage/push.ts";
import { newToken, outcome } from "../../rows.ts";
import { filed, NOW, type OpenedStorage, type OpenForRaces, raced, repeated } from "../engine.ts";

/** What any engine promises of browsers that are told by push. */
export function pushPromises(open: OpenForRaces): void {
  test("a browser has one subscription, and keeps what it was told when its page signs in anew", async () => {
    await using opened = await open();
    const { storage } = opened;
    for (const id of ["old", "new"]) await signedIn(storage, id, null);
    await subscribed(storage, { tokenId: "old", endpoint: "phone", toldId: "5" });
    const [first] = await storage.push.list(0);
    expect(first).toMatchObject({ tokenId: "old", toldId: "5", owner: undefined, signedInAt: NOW });
    await subscribed(storage, { tokenId: "new", endpoint: "phone", p256dh: "other", toldId: "9" });
    expect(await storage.push.list(0)).toMatchObject([{ ...first, tokenId: "new", p256dh: "other" }]);
    await subscribed(storage, { tokenId: "new", endpoint: "laptop" });
    expect(await (await opened.reopen()).push.list(0)).toMatchObject([{ tokenId: "new", endpoint: "laptop" }]);
  });

  test("a subscription ends with the token of its page, however that ends, and is not made for one that has ended", async () => {
    await using opened = await open();
    const { storage, connections } = opened;
    await storage.tokens.createIfNameFree(newToken({ id: "t1" }));
    const ways: [page: string, namedId: string | null, end: () => Promise<unknown>][] = [
      ["signed out", null, () => connections[1].tokens.endWeb("signed out")],
      ["old", null, () => storage.tokens.removeWebBefore(NOW + 1, 9)],
      ["of a token", "t1", () => connections[1].tokens.revoke("t1", "token:t1", NOW)],
      ["all", null, () => storage.tokens.endEveryWeb()],
    ];
    for (const [page, namedId, end] of ways) {
      await signedIn(storage, page, namedId);
      expect(await subscribed(storage, { tokenId: page, endpoint: page })).toBeDefined();
      expect(await storage.push.list(0)).toMatchObject([{ owner: namedId === null ? undefined : `token:${namedId}` }]);
      await end();
      expect(await storage.push.list(0)).toEqual([]);
      expect(await subscribed(storage, { tokenId: page, endpoint: page })).toBeUndefined();
    }
  });

  test("no subscription outlives a sign-out that races with it", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async (round) => {
      const page = `page ${round}`;
      await signedIn(storage, page, null);
      await raced<unknown>(opened, [
        (connection) => subscribed(connection, { tokenId: page, endpoint: page }),
        ({ tokens }) => tokens.endWeb(page),
      ]);
      expect(await storage.push.list(0)).toEqual([]);
    });
  });

  test("those of pages that were signed in too long ago are not listed", async () => {
    await using opened = await open();
    const { storage } = opened;
    await signedIn(storage, "page", null);
    await subscribed(storage, { tokenId: "page", endpoint: "phone" });
    expect(await storage.push.list(NOW - 1)).toHaveLength(1);
    expect(await storage.push.list(NOW)).toEqual([]);
  });

  test("what a browser was not told of is what is pending, of its owner, and newer than what it was told", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [first, decided, own] = [
      await filed(storage),
      await filed(storage),
      await filed(storage, { owner: "token:t1" }),
    ];
    await storage.approvals.settleIfPending(decided.id, outcome(), undefined);
    const untold = async (owner: string | undefined, toldId: string, limit = 9) =>
      (await storage.push.untold({ owner, toldId }, limit)).map(({ id }) => id);
    expect(await untold(undefined, "")).toEqual([first.id, own.id]);
    expect(await untold(undefined, "", 1)).toEqual([first.id]);
    expect(await untold(undefined, first.id)).toEqual([own.id]);
    expect(await untold("token:t1", "")).toEqual([own.id]);
    expect(await untold("token:t2", "")).toEqual([]);
  });

  test("what a browser was told never moves back, and it is removed once, unless it has another endpoint by then", async () => {
    await using opened = await open();
    const { storage } = opened;
    await signedIn(storage, "page", null);
    await subscribed(storage, { tokenId: "page", endpoint: "phone" });
    const [{ id } = { id: "" }] = await storage.push.list(0);
    for (const toldId of ["2", "1"]) await storage.push.setTold(id, toldId);
    expect(await storage.push.list(0)).toMatchObject([{ toldId: "2" }]);
    expect(await storage.push.remove(id, "another")).toBe(false);
    const removals = await raced(opened, [({ push }) => push.remove(id, "phone"), ({ push }) => push.remove(id)]);
    expect(removals.sort()).toEqual([false, true]);
    expect(await storage.push.list(0)).toEqual([]);
  });
}

/** A page that acts as this named token, or as the operator. */
async function signedIn({ signInCodes }: OpenedStorage, id: string, namedId: string | null): Promise<void> {
  await signInCodes.create({ hash: id, tokenId: namedId, expiresAt: NOW + 1 }, 9, NOW);
  await signInCodes.redeem(id, newToken({ id, kind: "web", createdAt: NOW }), 9, NOW);
}

function subscribed(
  { push, newId }: OpenedStorage,
  given: Pick<PushSubscriptionRow, "tokenId" | "endpoint"> & Partial<PushSubscriptionRow>,
) {
  return push.save({ id: newId(), p256dh: "key", auth: "secret", afterMs: 0, createdAt: NOW, toldId: "", ...given });
}
