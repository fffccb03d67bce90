import { describe, expect, test } from "bun:test";
import { createToldRequests } from "../../../src/core/approvals/told-requests.ts";

const ONE = { owner: "operator", consumer: "one" };
const OTHER = { owner: "operator", consumer: "other" };
const STRANGER = { owner: "token:1", consumer: "one" };
const WHOLE = { cutAt: undefined, isAll: true };

describe("toldRequests", () => {
  test("knows of each reader whether it was told a request, and of an owner whether it was told all of it", () => {
    const { told, known } = createToldRequests();
    expect(known(ONE, "a")).toBeUndefined();
    told(ONE, "a", { cutAt: 10, isAll: false });
    expect(known(ONE, "a")).toEqual({ isTold: false, isWhole: false });
    told(ONE, "a", { cutAt: 100, isAll: true });
    expect(known(ONE, "a")).toEqual({ isTold: true, isWhole: false });
    expect(known(OTHER, "a")).toEqual({ isTold: false, isWhole: false });
    told(OTHER, "a", WHOLE);
    expect(known(ONE, "a")).toEqual({ isTold: true, isWhole: true });
    expect(known(STRANGER, "a")).toBeUndefined();
  });

  test("takes a request for told once what was told of it and the slices that were read have no gap, in any order", () => {
    const { told, read, known } = createToldRequests();
    const isWhole = () => known(ONE, "a")?.isWhole;
    told(ONE, "a", { cutAt: 20, isAll: true });
    read(ONE, "a", { from: 60, to: 100 }, 100);
    read(ONE, "a", { from: 30, to: 60 }, 100);
    expect(isWhole()).toBe(false);
    read(ONE, "a", { from: 25, to: 35 }, 100);
    expect(isWhole()).toBe(false);
    read(OTHER, "a", { from: 20, to: 25 }, 100);
    expect(isWhole()).toBe(true);
    told(ONE, "a", { cutAt: 1, isAll: true });
    expect(isWhole()).toBe(true);
  });

  test("forgets the request that was not told for the longest time, beyond 2,000", () => {
    const { told, known } = createToldRequests();
    for (let at = 0; at < 2_000; at++) told(ONE, `${at}`, WHOLE);
    told(ONE, "0", WHOLE);
    told(ONE, "new", WHOLE);
    expect(known(ONE, "0")).toBeDefined();
    expect(known(ONE, "1")).toBeUndefined();
    expect(known(ONE, "2")).toBeDefined();
  });

  test("keeps no more than 20 readers and 50 gaps of one request: more are told in full again", () => {
    const { told, read, known } = createToldRequests();
    for (let at = 0; at < 21; at++) told({ ...ONE, consumer: `${at}` }, "a", { cutAt: 1, isAll: true });
    expect(known({ ...ONE, consumer: "19" }, "a")).toMatchObject({ isTold: true });
    expect(known({ ...ONE, consumer: "20" }, "a")).toMatchObject({ isTold: false });
    for (let at = 0; at < 60; at++) read(ONE, "a", { from: 2 * at, to: 2 * at + 1 }, 120);
    read(ONE, "a", { from: 0, to: 119 }, 120);
    expect(known(ONE, "a")).toMatchObject({ isWhole: false });
    read(ONE, "a", { from: 119, to: 120 }, 120);
    expect(known(ONE, "a")).toMatchObject({ isWhole: true });
  });
});
