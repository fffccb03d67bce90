import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { callEventId, readCallEventId } from "../../../src/mcp/calls/event-id.ts";
import { readPermitEventId } from "../../../src/mcp/permit-call.ts";

const Token = fc.oneof(fc.string({ maxLength: 100 }), fc.integer());
const Call = fc.record({
  tool: fc.string({ maxLength: 50 }),
  id: Token,
  progressToken: fc.option(Token, { nil: undefined }),
  state: fc.dictionary(
    fc.string({ maxLength: 10 }),
    fc.oneof(fc.string({ maxLength: 50 }), fc.integer(), fc.boolean()),
  ),
});

describe("the id of a call's stream", () => {
  test("contains everything that another process needs to resume the call, and fits into a header", () => {
    fc.assert(
      fc.property(Call, (call) => {
        const id = callEventId(call) ?? "";
        expect(id).toMatch(/^[\w.-]+$/);
        expect(readCallEventId(id)).toEqual(JSON.parse(JSON.stringify(call)));
        expect(readPermitEventId(id)).toBeUndefined();
      }),
    );
  });

  test("leaves out a state that is too long, and does not exist if the rest is too long", () => {
    const call = { tool: "loopback_wait", id: 1, progressToken: undefined };
    const long = { skip: [randomBytes(6_000).toString("hex")] };
    expect(readCallEventId(callEventId({ ...call, state: long }) ?? "")).toEqual(call);
    expect(callEventId({ ...call, id: randomBytes(6_000).toString("hex") })).toBeUndefined();
  });

  test("fits into a header with all approvals that a wait may skip, and never unpacks to megabytes", () => {
    const state = {
      since: 1,
      until: 2,
      skip: Array.from({ length: 200 }, (_, at) => Bun.randomUUIDv7("hex", at * 1e9)),
    };
    const id = callEventId({ tool: "loopback_wait", id: 1, progressToken: 1, state }) ?? "";
    expect(id.length).toBeLessThanOrEqual(6_000);
    expect(readCallEventId(id)).toMatchObject({ state });
    const bomb = deflateRawSync(JSON.stringify(["t", 1, null, { a: "x".repeat(4_000_000) }])).toString("base64url");
    expect(bomb.length).toBeLessThan(6_000);
    expect(readCallEventId(`call-z.${bomb}`)).toBeUndefined();
  });

  test("is rejected if it is anything else", () => {
    const encoded = (value: unknown) => `call.${Buffer.from(JSON.stringify(value)).toString("base64url")}`;
    const others = [
      null,
      "",
      "notifications",
      "call.",
      "call.%%%",
      encoded({}),
      encoded(["wait", 1]),
      encoded([1, 1, null, null]),
    ];
    const deep = `call.${Buffer.from(`["t",1,null,${'{"a":'.repeat(500)}1${"}".repeat(500)}]`).toString("base64url")}`;
    for (const other of [...others, deep, encoded(["t", 1, null, "x"]), encoded(["t", 1, null, []])]) {
      expect([other, readCallEventId(other)]).toEqual([other, undefined]);
    }
    fc.assert(fc.property(fc.string(), (text) => readCallEventId(`call.${text}`) === undefined));
  });
});
