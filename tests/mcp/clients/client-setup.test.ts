import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/contract/values.ts";
import { setupMessage } from "../../../src/mcp/clients/client-setup.ts";
import { setupAfter } from "../../../src/mcp/clients/setup-messages.ts";

const MB = 1024 * 1024;

function heapAfterCollection(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}

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

const initialize = (params: JsonObject): JsonObject => ({ jsonrpc: "2.0", id: 1, method: "initialize", params });

describe("what a client has set up", () => {
  test("is the newest level, and each open subscription", () => {
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
    expect(many.reduce<JsonObject[]>(setupAfter, []).length).toBe(10);
  });

  test("is not changed by a message that the server refuses, nor by any other", () => {
    expect(setupMessage(level("loudest"))).toBeUndefined();
    expect(setupMessage({ jsonrpc: "2.0", id: 1, method: "tools/list" })).toBeUndefined();
    expect(setupMessage(level("debug"))).toEqual(level("debug"));
  });

  test("keeps only those parts of an introduction that are needed to serve the client", () => {
    const said = { protocolVersion: "2025-11-25", capabilities: { roots: { listChanged: true }, sampling: {} } };
    const icons = [{ src: `data:image/png;base64,${"A".repeat(100_000)}` }];
    const clientInfo = { name: "agent", version: "1", title: "Agent" };
    const sent = initialize({ ...said, clientInfo: { ...clientInfo, icons }, _meta: { of: "mine" } });
    expect(setupMessage(sent)).toEqual(initialize({ ...said, clientInfo }));
  });

  test("is at most 16,000 characters, whatever a client sends", () => {
    const long = "\u0001".repeat(1_000_000);
    const experimental = { [long]: {}, other: { long } };
    const introduced = initialize({
      protocolVersion: long,
      capabilities: { experimental, roots: { listChanged: true } },
      clientInfo: { name: long, version: long, title: long },
    });
    const subscribed = Array.from({ length: 500 }, (_, number) => subscribe(`x:${number}`.padEnd(498, "x")));
    const sent = [introduced, subscribe(long.slice(0, 498)), ...subscribed, { ...level("debug"), id: long }];
    const kept = sent.map(setupMessage).filter((message) => message !== undefined);
    const setup = kept.reduce<JsonObject[]>(setupAfter, []);
    expect(JSON.stringify(setup).length).toBeLessThan(16_000);
    expect(setup).toEqual([expect.anything(), ...subscribed.slice(0, 10), level("debug")]);
    expect(setup[0]?.["params"]).toMatchObject({ capabilities: { roots: { listChanged: true } } });
  });

  test("keeps nothing of the text that was cut off", () => {
    const sent = (number: number) => ({
      protocolVersion: "1",
      capabilities: {},
      clientInfo: { name: `${number}`.repeat(10 * MB), version: "1" },
    });
    const before = heapAfterCollection();
    const kept = Array.from({ length: 9 }, (_, number) => setupMessage(initialize(sent(number))));
    expect(heapAfterCollection() - before).toBeLessThan(30 * MB);
    expect(kept).toHaveLength(9);
  });

  test("leaves out a capability that is nested too deeply to be written", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(200)}{}${"}".repeat(200)}`);
    const clientInfo = { name: "agent", version: "1" };
    const sent = initialize({ protocolVersion: "1", capabilities: { experimental: { deep } }, clientInfo });
    expect(setupMessage(sent)).toEqual(initialize({ protocolVersion: "1", capabilities: {}, clientInfo }));
  });
});
