import { expect, test } from "bun:test";
import type { LinkRow } from "../../../src/storage/links.ts";
import { outcome } from "../rows.ts";
import { filed, NOW, type OpenedStorage, type OpenForRaces, raced, repeated } from "./engine.ts";

const LATER = NOW + 1_000_000;

/** The promises of every engine about links that decide one request. */
export function linkPromises(open: OpenForRaces): void {
  test("if a link is used twice while the operator decides too, one of the three decides and all learn which", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id } = await filed(storage, { expiresAt: LATER });
      const link = await linked(storage, id);
      const press = (connection: OpenedStorage) => decideBy(connection, link, "allowed");
      const settled = await raced(opened, [
        press,
        press,
        (connection: OpenedStorage) =>
          connection.approvals.settleIfPending(id, outcome({ status: "denied", resolvedBy: "operator" }), undefined),
      ]);
      expect(settled.filter((one) => one.outcome === "settled")).toHaveLength(1);
      const told = new Set(settled.flatMap((one) => ("approval" in one ? one.approval.resolvedBy : [])));
      expect(told).toEqual(new Set([(await storage.approvals.get(id))?.resolvedBy ?? null]));
    });
  });

  test("a link decides only its own request, only with its verdict, and only before it expires", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [own, other] = [await filed(storage, { expiresAt: LATER }), await filed(storage, { expiresAt: LATER })];
    const [denies, allows, over] = [
      await linked(storage, own.id, { verdict: "deny" }),
      await linked(storage, own.id, { verdict: "allow" }),
      await linked(storage, own.id, { expiresAt: NOW }),
    ];
    const refused = { outcome: "not_by_link" } as const;
    expect(await decideBy(storage, denies, "allowed")).toEqual(refused);
    expect(await decideBy(storage, allows, "denied")).toEqual(refused);
    expect(await decideBy(storage, over, "denied")).toEqual(refused);
    expect(await decideBy(storage, { ...denies, approvalId: other.id }, "denied")).toEqual(refused);
    expect(await decideBy(storage, { ...denies, id: "none" }, "denied")).toEqual(refused);
    for (const { id } of [own, other]) expect((await storage.approvals.get(id))?.status).toBe("pending");
    expect(await decideBy(storage, denies, "denied")).toMatchObject({ outcome: "settled" });
    expect(await decideBy(storage, allows, "allowed")).toMatchObject({ outcome: "settled_before" });
  });

  test("a link is created only for a pending request, is kept when created again, and survives a restart", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [pending, decided] = [await filed(storage), await filed(storage)];
    await storage.approvals.settleIfPending(decided.id, outcome(), undefined);
    const link = newLink(storage, pending.id);
    const make = (one: LinkRow) => storage.links.createIfPending(one, 0);
    expect([await make(link), await make({ ...link, hash: "other" })]).toEqual([true, true]);
    expect(await make(newLink(storage, decided.id))).toBe(false);
    expect(await make(newLink(storage, "none"))).toBe(false);
    expect(await (await opened.reopen()).links.get(link.id)).toEqual(link);
  });

  test("links are deleted with their webhook, and some time after they expire", async () => {
    await using opened = await open();
    const { storage, connections } = opened;
    const { id } = await filed(storage, { expiresAt: LATER });
    const kept = await linked(storage, id, { webhookId: "kept" });
    const gone = await linked(storage, id, { webhookId: "gone" });
    const old = await linked(storage, id, { webhookId: "kept", expiresAt: 5 });
    expect(await storage.links.keepOnly(["kept"])).toBe(1);
    expect(await decideBy(connections[1], gone, "denied")).toEqual({ outcome: "not_by_link" });
    await storage.links.createIfPending(newLink(storage, id), 6);
    expect(await storage.links.get(old.id)).toBeUndefined();
    expect(await storage.links.get(kept.id)).toEqual(kept);
    expect(await storage.links.keepOnly([])).toBe(2);
    expect(await storage.links.get(kept.id)).toBeUndefined();
  });
}

function newLink(storage: OpenedStorage, approvalId: string, given: Partial<LinkRow> = {}): LinkRow {
  const random = storage.newId();
  return {
    id: random,
    approvalId,
    webhookId: "one",
    name: "phone",
    hash: `hash of ${random}`,
    verdict: "any",
    expiresAt: LATER,
    ...given,
  };
}

async function linked(storage: OpenedStorage, approvalId: string, given: Partial<LinkRow> = {}): Promise<LinkRow> {
  const link = newLink(storage, approvalId, given);
  await storage.links.createIfPending(link, 0);
  return link;
}

function decideBy({ approvals }: OpenedStorage, { id: link, approvalId }: LinkRow, status: "allowed" | "denied") {
  const by = { owner: undefined, token: undefined, link };
  return approvals.settleIfPending(approvalId, outcome({ status, resolvedAt: NOW, resolvedBy: "link:phone" }), by);
}
