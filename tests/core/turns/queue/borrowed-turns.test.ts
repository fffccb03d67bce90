import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { namedToken } from "../../../http/support/callers.ts";
import { openQueueWorld } from "./queue-world.ts";
import { openSlotScene } from "./slot-scene.ts";

setDefaultTimeout(60_000);

const SLOTS = [1, 2, 4, 7, 16];
const ATTACKERS = [1, 2, 3];

describe("owners whose children hold their own tokens, and who borrow whenever they can,", () => {
  for (const slots of SLOTS) {
    for (const count of ATTACKERS) {
      test(`leave one of ${slots} slots to whoever has none as soon as it is free, when they are ${count}`, async () => {
        await using scene = await openAttack(slots, count);
        const ahead = scene.withoutTurn();
        await scene.begin("mine", "operator");
        // However often a turn ends that has borrowed, they borrow again, and no slot is free.
        for (let ends = 0; ends < 5; ends++) await scene.endAndRefill(scene.isBorrowed);
        expect(scene.status("mine")).toBe("queued");
        // Those among them that wait for their first turn have waited longer.
        for (let ends = 0; ends <= ahead; ends++) {
          expect(scene.status("mine")).toBe("queued");
          await scene.endAndRefill((name) => !scene.isBorrowed(name));
        }
        expect(scene.status("mine")).toBe("running");
        expect(scene.isBorrowed("mine")).toBe(false);
      });

      test(`leave a share of ${slots} slots to another who has much to do, when they are ${count}`, async () => {
        await using scene = await openAttack(slots, count);
        for (let at = 0; at < slots; at++) await scene.begin(`mine-${at}`, "operator");
        const fair = Math.ceil(slots / (count + 1));
        const ends = fair + scene.withoutTurn();
        for (let at = 0; at < ends; at++) await scene.endAndRefill((name) => !scene.isBorrowed(name));
        expect(scene.running().filter((name) => name.startsWith("mine")).length).toBeGreaterThanOrEqual(fair);
      });

      test(`run a bounded number of turns beyond ${slots}, when they are ${count}`, async () => {
        await using scene = await openAttack(slots, count);
        for (let ends = 0; ends < 5; ends++) {
          await scene.endAndRefill(() => true);
          const borrowed = scene.running().filter((name) => scene.isBorrowed(name));
          expect(borrowed.length).toBeLessThanOrEqual(Math.max(8, slots) + count);
          expect(scene.running().length - borrowed.length).toBe(slots);
        }
      });
    }
  }
});

describe("a turn that has borrowed", () => {
  test("takes no slot, also when the server that started it is gone", async () => {
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

  test("was queued before it could, too", async () => {
    await using scene = await openSlotScene(1);
    const family = await scene.token("family");
    await scene.begin("plain", family.owner);
    await scene.begin("parent", "operator", family.token);
    await scene.begin("child", family.owner);
    await scene.end("plain");
    expect([scene.status("parent"), scene.status("child")]).toEqual(["running", "running"]);
    expect([scene.isBorrowed("parent"), scene.isBorrowed("child")]).toEqual([false, true]);
  });
});

describe("parents that hold all slots and wait", () => {
  test("see each their children run, also when all of them share one token", async () => {
    await using scene = await openSlotScene(16);
    const family = await scene.token("family");
    const names = Array.from({ length: 16 }, (_, at) => `${at}`);
    for (const name of names) await scene.begin(`parent-${name}`, family.owner, family.token);
    for (const name of names) await scene.begin(`child-${name}`, family.owner);
    for (const name of names) {
      expect(scene.status(`child-${name}`)).toBe("running");
      await scene.end(`child-${name}`);
    }
  });

  test("see their children run, however much others have borrowed", async () => {
    await using scene = await openAttack(4, 3);
    const family = await scene.token("family");
    await scene.begin("parent", "operator", family.token);
    await scene.endAndRefill((name) => !scene.isBorrowed(name));
    expect(scene.status("parent")).toBe("running");
    await scene.begin("child", family.owner);
    expect([scene.status("child"), scene.isBorrowed("child")]).toEqual(["running", true]);
  });
});

/** All slots taken, and as much borrowed as can be, by tokens that always have more to do. */
async function openAttack(slots: number, attackers: number) {
  const scene = await openSlotScene(slots);
  const tokens = await Promise.all(Array.from({ length: attackers }, (_, at) => scene.token(`greedy-${at}`)));
  let count = 0;
  const refill = async () => {
    for (const { name, owner, token } of tokens) await scene.begin(`${name}-${count++}`, owner, token);
  };
  for (let at = 0; at < slots + 12; at++) await refill();
  return {
    ...scene,
    withoutTurn: () => tokens.filter(({ name }) => !scene.running().some((one) => one.startsWith(name))).length,
    /** Ends the oldest of the greedy turns that run and are as wanted. */
    async endAndRefill(isWanted: (name: string) => boolean): Promise<void> {
      const name = scene.running().find((one) => one.startsWith("greedy") && isWanted(one));
      if (name === undefined) throw new Error("no such turn runs");
      await scene.end(name);
      await refill();
    },
  };
}

function bearing(token: string) {
  return { children: { type: "http", url: "http://127.0.0.1:1/mcp", headers: { Authorization: `Bearer ${token}` } } };
}
