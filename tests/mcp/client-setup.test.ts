import { describe, expect, test } from "bun:test";
import { changesSetup } from "../../src/mcp/client-setup.ts";
import { setupAfter } from "../../src/mcp/setup-messages.ts";
import type { JsonObject } from "../../src/schema/values.ts";

const subscribe = (uri: string): JsonObject => ({
  jsonrpc: "2.0",
  id: 1,
  method: "resources/subscribe",
  params: { uri },
});
const unsubscribe = (uri: string): JsonObject => ({ ...subscribe(uri), method: "resources/unsubscribe" });
const level = (name: string): JsonObject => ({
  jsonrpc: "2.0",
  id: 1,
  method: "logging/setLevel",
  params: { level: name },
});

describe("what a client has set up", () => {
  test("is the newest level, and each subscription that was not ended", () => {
    const messages = [
      level("info"),
      subscribe("a:1"),
      level("error"),
      subscribe("b:2"),
      subscribe("a:1"),
      unsubscribe("b:2"),
    ];
    const setup = messages.reduce<JsonObject[]>(setupAfter, []);
    expect(setup).toEqual([level("error"), subscribe("a:1")]);
  });

  test("keeps a subscription when another one is ended", () => {
    expect([subscribe("a:1"), unsubscribe("b:2")].reduce<JsonObject[]>(setupAfter, [])).toEqual([subscribe("a:1")]);
  });

  test("does not grow without bound", () => {
    const many = Array.from({ length: 500 }, (_, number) => subscribe(`x:${number}`));
    expect(many.reduce<JsonObject[]>(setupAfter, []).length).toBeLessThanOrEqual(100);
  });

  test("is not changed by a message that the server refuses, nor by any other", () => {
    expect(changesSetup(level("loudest"))).toBe(false);
    expect(changesSetup({ jsonrpc: "2.0", id: 1, method: "tools/list" })).toBe(false);
    expect(changesSetup(level("debug"))).toBe(true);
  });
});
