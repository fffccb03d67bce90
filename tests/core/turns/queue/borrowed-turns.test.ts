import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { namedToken } from "../../../http/support/callers.ts";
import { openQueueWorld } from "./queue-world.ts";
import { openSlotSetup } from "./slot-setup.ts";

setDefaultTimeout(60_000);

const SLOTS = [1, 2, 4, 7, 16];
const ATTACKERS = [1, 2, 3];

describe("owners that borrow whenever they can", () => {
  for (const slots of SLOTS) {
    for (const count of ATTACKERS) {
      test(`leave the next free slot of ${slots} to an owner without one (${count} borrowers)`, async () => {
        await using setup = await openAttack(slots, count);
        const ahead = setup.withoutTurn();
        await setup.begin("mine", "operator");
        // Each borrowed turn that ends is replaced by another one, and no slot becomes free.
        for (let ends = 0; ends < 5; ends++) await setup.endAndRefill(setup.isBorrowed);
        expect(setup.status("mine")).toBe("queued");
        // Borrowers without a running turn have waited longer.
        for (let ends = 0; ends <= ahead; ends++) {
          expect(setup.status("mine")).toBe("queued");
          await setup.endAndRefill((name) => !setup.isBorrowed(name));
        }
        expect(setup.status("mine")).toBe("running");
        expect(setup.isBorrowed("mine")).toBe(false);
      });

      test(`leave another owner a fair share of ${slots} slots (${count} borrowers)`, async () => {
        await using setup = await openAttack(slots, count);
        for (let at = 0; at < slots; at++) await setup.begin(`mine-${at}`, "operator");
        const fair = Math.ceil(slots / (count + 1));
        const ends = fair + setup.withoutTurn();
        for (let at = 0; at < ends; at++) await setup.endAndRefill((name) => !setup.isBorrowed(name));
        expect(setup.running().filter((name) => name.startsWith("mine")).length).toBeGreaterThanOrEqual(fair);
      });

      test(`run a bounded number of turns beyond ${slots} slots (${count} borrowers)`, async () => {
        await using setup = await openAttack(slots, count);
        for (let ends = 0; ends < 5; ends++) {
          await setup.endAndRefill(() => true);
          const borrowed = setup.running().filter((name) => setup.isBorrowed(name));
          expect(borrowed.length).toBeLessThanOrEqual(Math.max(8, slots) + count);
          expect(setup.running().length - borrowed.length).toBe(slots);
        }
      });
    }
  }
});

describe("a borrowed turn", () => {
  test("takes no slot, also after the server that started it is gone", async () => {
    await using world = await openQueueWorld(1);
    const { token, principal: by } = await namedToken(world.plexus, "greedy");
    for (const name of ["g0", "g1", "g2"])
      expect(await world.start(name, { by, servers: bearing(token) })).toBe("running");
    expect(await world.start("mine")).toBe("queued");
    for (const name of ["g0", "g1", "g2"]) await world.running(name);
    await world.restart("hand over");
    world.end("g0");
    await world.running("mine");
    expect(["g1", "g2"].map(world.status)).toEqual(["running", "running"]);
    expect(await world.start("mine too")).toBe("queued");
    world.end("mine");
    await world.running("mine too");
  });

  test("may have been queued before its token could borrow", async () => {
    await using setup = await openSlotSetup(1);
    const family = await setup.token("family");
    await setup.begin("plain", family.owner);
    await setup.begin("parent", "operator", family.token);
    await setup.begin("child", family.owner);
    await setup.end("plain");
    expect([setup.status("parent"), setup.status("child")]).toEqual(["running", "running"]);
    expect([setup.isBorrowed("parent"), setup.isBorrowed("child")]).toEqual([false, true]);
  });
});

describe("parents that hold all slots and wait", () => {
  test("see their children run, also when all share one token", async () => {
    await using setup = await openSlotSetup(16);
    const family = await setup.token("family");
    const names = Array.from({ length: 16 }, (_, at) => `${at}`);
    for (const name of names) await setup.begin(`parent-${name}`, family.owner, family.token);
    for (const name of names) await setup.begin(`child-${name}`, family.owner);
    for (const name of names) {
      expect(setup.status(`child-${name}`)).toBe("running");
      await setup.end(`child-${name}`);
    }
  });

  test("see their children run, however many turns others have borrowed", async () => {
    await using setup = await openAttack(4, 3);
    const family = await setup.token("family");
    await setup.begin("parent", "operator", family.token);
    await setup.endAndRefill((name) => !setup.isBorrowed(name));
    expect(setup.status("parent")).toBe("running");
    await setup.begin("child", family.owner);
    expect([setup.status("child"), setup.isBorrowed("child")]).toEqual(["running", true]);
  });
});

/** All slots are taken, and as many turns borrowed as possible, by tokens that always start more. */
async function openAttack(slots: number, attackers: number) {
  const setup = await openSlotSetup(slots);
  const tokens = await Promise.all(Array.from({ length: attackers }, (_, at) => setup.token(`greedy-${at}`)));
  let count = 0;
  const refill = async () => {
    for (const { name, owner, token } of tokens) await setup.begin(`${name}-${count++}`, owner, token);
  };
  for (let at = 0; at < slots + 12; at++) await refill();
  return {
    ...setup,
    withoutTurn: () => tokens.filter(({ name }) => !setup.running().some((one) => one.startsWith(name))).length,
    /** Ends the oldest running turn of a greedy token that `isWanted`, and starts more of them. */
    async endAndRefill(isWanted: (name: string) => boolean): Promise<void> {
      const name = setup.running().find((one) => one.startsWith("greedy") && isWanted(one));
      if (name === undefined) throw new Error("no such turn runs");
      await setup.end(name);
      await refill();
    },
  };
}

function bearing(token: string) {
  return { children: { type: "http", url: "http://127.0.0.1:1/mcp", headers: { Authorization: `Bearer ${token}` } } };
}
