import { describe, expect, test } from "bun:test";
import { mayDecide, ownerKey, type Principal } from "../../../src/core/access/principals.ts";
import { OPERATOR, temporaryCore } from "../open-core.ts";

const CI: Principal = { kind: "token", id: "1", name: "ci" };
const CHILD: Principal = { kind: "session", sessionId: "s-1" };

describe("sessions.createByHand", () => {
  test("refuses a name that its creator already uses", async () => {
    await using core = await temporaryCore({ tokens: [CI] });
    await core.sessions.createByHand(CI, "work");
    await expect(core.sessions.createByHand(CI, "work")).rejects.toMatchObject({ code: "name_taken" });
    expect((await core.sessions.createByHand(OPERATOR, "work")).name).toBe("work");
  });

  test("makes up a name if none is given", async () => {
    await using core = await temporaryCore({ tokens: [CI] });
    const names = await Promise.all([1, 2, 3].map(async () => (await core.sessions.createByHand(CI)).name));
    expect(new Set(names).size).toBe(3);
  });
});

test("sessions.require names the nearest session first, and then the newest", async () => {
  await using core = await temporaryCore({ tokens: [CI] });
  for (const name of ["five", "four", "three", "two", "one", "zero"]) await core.sessions.createByHand(CI, name);
  await expect(core.sessions.require(CI, "fiv")).rejects.toMatchObject({
    message: expect.stringContaining('You have: "five", "zero", "one", "two", "three", and others'),
  });
  await expect(core.sessions.require(CI, "nine-and-ninety")).rejects.toMatchObject({
    message: expect.stringContaining('You have: "zero", "one"'),
  });
});

describe("sessions.openByHand", () => {
  test("creates one session for any number of simultaneous calls", async () => {
    await using core = await temporaryCore();
    const opened = await Promise.all(Array.from({ length: 10 }, () => core.sessions.openByHand(OPERATOR, "work")));
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    expect((await core.sessions.openByHand(OPERATOR, opened[0]?.id ?? "")).id).toBe(opened[0]?.id ?? "");
  });
});

describe("sessions.require", () => {
  test("finds the caller's own by id and by name; another owner's is not_found", async () => {
    await using core = await temporaryCore({ tokens: [CI] });
    const mine = await core.sessions.createByHand(CI, "work");
    const other = await core.sessions.createByHand(OPERATOR, "other");
    expect((await core.sessions.require(CI, mine.id)).id).toBe(mine.id);
    expect((await core.sessions.require(CI, "work")).id).toBe(mine.id);
    expect((await core.sessions.require(OPERATOR, mine.id)).id).toBe(mine.id);
    for (const key of [other.id, "other", "none"]) {
      await expect(core.sessions.require(CI, key)).rejects.toThrow(`There is no session "${key}".`);
    }
    const own = core.sessions.require({ kind: "session", sessionId: mine.id }, mine.id);
    await expect(own).rejects.toThrow("no session");
  });
});

describe("principals", () => {
  test("have owner keys that no other principal can have", () => {
    const keys = [OPERATOR, CI, CHILD, { kind: "token", id: "s-1", name: "operator" } as const].map(ownerKey);
    expect(new Set(keys).size).toBe(4);
  });

  test("may decide for their own sessions; the operator for all, a child for none", () => {
    const owners = [OPERATOR, CI, CHILD].map(ownerKey);
    const rights = (principal: Principal) => owners.map((owner) => mayDecide(principal, owner));
    expect(rights(OPERATOR)).toEqual([true, true, true]);
    expect(rights(CI)).toEqual([false, true, false]);
    expect(rights(CHILD)).toEqual([false, false, false]);
  });
});
