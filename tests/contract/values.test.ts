import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import { Id, JsonObject, Name, optional } from "../../src/contract/values.ts";

describe("JsonObject", () => {
  test("passes on any object unchanged, whatever its keys", () => {
    const keys = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toJSON", "0", ""));
    fc.assert(
      fc.property(fc.dictionary(keys, fc.jsonValue()), (value) => {
        const sent = JSON.stringify(value);
        expect(JSON.stringify(JsonObject.parse(JSON.parse(sent)))).toBe(JSON.stringify(JSON.parse(sent)));
      }),
    );
  });

  test.each([[null], [[]], ["text"], [1], [true], [undefined]])("refuses %j", (value) => {
    expect(JsonObject.safeParse(value).success).toBe(false);
  });

  test("accepts a hundred levels and no more", () => {
    const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`);
    expect(JsonObject.safeParse(nested(100)).success).toBe(true);
    expect(JsonObject.safeParse(nested(101)).success).toBe(false);
    expect(JsonObject.safeParse(nested(5_000)).success).toBe(false);
  });
});

describe("optional", () => {
  test("accepts null as absent", () => {
    const schema = z.object({ limit: optional(z.int()) });
    expect(schema.parse({ limit: null }).limit).toBeUndefined();
    expect(schema.parse({}).limit).toBeUndefined();
    expect(schema.parse({ limit: 3 }).limit).toBe(3);
    expect(schema.safeParse({ limit: "3" }).success).toBe(false);
  });
});

describe("Id", () => {
  test.each(["a", "01a1e2f0-1279-72c5-be7a-33ff4c1ca52d", "x".repeat(64), "😀"])("takes %s", (id) => {
    expect(Id.safeParse(id).success).toBe(true);
  });

  test.each(["", "x".repeat(65), "a\u0001", "a\nb", "a\u0085", "\ud83d"])("refuses %j", (id) => {
    expect(Id.safeParse(id).success).toBe(false);
  });
});

describe("Name", () => {
  test.each(["a", "worker 1", "Größe", "team:ci@host", "x".repeat(100), "名前"])("takes %s", (name) => {
    expect(Name.safeParse(name).success).toBe(true);
  });

  test.each(["", " a", "-rf", "a/b", "a\nb", "a\u202eb", "x".repeat(101), "<b>"])("refuses %j", (name) => {
    expect(Name.safeParse(name).success).toBe(false);
  });
});
