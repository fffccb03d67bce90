import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { cutEvent } from "../../../src/contract/text/cut.ts";
import { cutApproval } from "../../../src/contract/text/cut-approval.ts";
import { cutObject } from "../../../src/contract/text/cut-object.ts";
import { cutText } from "../../../src/contract/text/cut-text.ts";

const approval: Approval = {
  id: "018f0000-0000-7000-8000-000000000000",
  session_id: "018f0000-0000-7000-8000-000000000001",
  session_name: "worker",
  tool_name: "Bash",
  tool_use_id: "toolu_1",
  input: { command: "true" },
  status: "pending",
  response_message: null,
  updated_input: null,
  created_at: 1,
  expires_at: 2,
  resolved_at: null,
  resolved_by: null,
};

/** Texts of every kind, up to the longest that a child may send in one field of these inputs. */
const text = fc.oneof(
  fc.tuple(fc.string({ unit: "binary" }), fc.nat(20_000)).map(([some, length]) => some.repeat(length).slice(0, 30_000)),
  fc.constantFrom("\u0000", "\\", '"', "😀", "x").chain((unit) => fc.nat(30_000).map((length) => unit.repeat(length))),
);
const anyObject = fc.oneof(
  fc.dictionary(fc.string(), text, { maxKeys: 5 }),
  fc.dictionary(text, fc.string(), { maxKeys: 3 }),
  fc.array(fc.string(), { maxLength: 3_000, size: "max" }).map((many) => ({ many })),
);

describe("cutEvent", () => {
  const call = { type: "tool_use" as const, tool_name: "Write", tool_use_id: "toolu_1" };

  test("leaves a short event unchanged", () => {
    const event = { ...call, input: { content: "short" } };
    expect(cutEvent(event, 1_000)).toBe(event);
  });

  test("keeps an event's type and its call's id, whichever fields are long", () => {
    fc.assert(
      fc.property(anyObject, (input) => {
        const cut = cutEvent({ ...call, input }, 2_000);
        expect(cut).toMatchObject(call);
        const isWhole = JSON.stringify({ ...call, input }).length <= 2_000;
        expect(Object.keys(cut)).toEqual([...Object.keys(call), "input", ...(isWhole ? [] : ["truncated", "size"])]);
        expect(JSON.stringify(cut).length).toBeLessThan(4_000);
      }),
    );
  });

  test("shortens texts and lists too", () => {
    const many = Array.from({ length: 10_000 }, (_, at) => `line ${at}`);
    const cut = cutEvent({ type: "passthrough", event_type: "x".repeat(10_000), data: many }, 2_000);
    expect(cut).toMatchObject({ type: "passthrough", data: { truncated_json: expect.stringContaining("line 1") } });
    expect(cut).toMatchObject({ event_type: expect.stringContaining("characters left out"), truncated: true });
    expect(JSON.stringify(cut).length).toBeLessThan(4_000);
  });
});

describe("cutText", () => {
  test("leaves a short text unchanged", () => {
    expect(cutText("x".repeat(100), 100)).toBe("x".repeat(100));
  });

  test("keeps the head and tail of a longer text, and says how much is missing", () => {
    const cut = cutText(`begin${"x".repeat(10_000)}end`, 200);
    expect(cut).toStartWith("begin");
    expect(cut).toEndWith("end");
    expect(cut).toMatch(/\[98\d\d of 10008 characters left out\]/);
    expect(cut.length).toBeLessThanOrEqual(200);
  });

  test("never cuts a character in half", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 200, maxLength: 400 }), fc.nat(150), (long, more) => {
        expect(cutText(long, 80 + more).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("cutObject", () => {
  test("fits every object into any limit, and leaves a short one unchanged", () => {
    fc.assert(
      fc.property(anyObject, fc.integer({ min: 1_000, max: 40_000 }), (value, limit) => {
        const cut = cutObject(value, limit);
        if (JSON.stringify(value).length <= limit) expect(cut).toBe(value);
        expect(JSON.stringify(cut).length).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 100 },
    );
  });
});

describe("cutApproval", () => {
  const control = fc.constantFrom(0, 512).map((length) => `t${"\u0001".repeat(length)}`.slice(0, 512));
  const pending = {
    ...Object.fromEntries(Object.entries(approval).map(([key, value]) => [key, fc.constant(value)])),
    session_name: fc.string({ maxLength: 100 }),
    tool_name: control,
    tool_use_id: control,
    input: anyObject,
  };
  const decided = {
    ...pending,
    response_message: fc.option(fc.nat(8_000).map((length) => "\u0001".repeat(length))),
    updated_input: fc.option(anyObject),
  };

  const shown = { ...pending, plan: text, diff: text, said: fc.string({ maxLength: 300 }) };

  test.each([
    ["pending", pending, 10_000],
    ["pending and shown", shown, 10_000],
    ["pending and shown alone", shown, 39_000],
    ["decided", decided, 39_000],
  ])("fits every %s approval into its place, still an approval, and says that it was cut", (_, given, limit) => {
    fc.assert(
      fc.property(fc.record(given), (value) => {
        const whole = Approval.parse(value);
        const cut = Approval.parse(cutApproval(whole, limit));
        expect(JSON.stringify(cut).length).toBeLessThanOrEqual(limit);
        const isWhole = JSON.stringify(whole).length <= limit;
        expect(cut.truncated).toBe(isWhole ? undefined : true);
        if (!isWhole) expect(cut.input_size).toBe(JSON.stringify(whole.input).length);
      }),
      { numRuns: 100 },
    );
  });

  test("names the offsets at which the JSON of the input goes on, of each text that is cut, and the first as cut_at", () => {
    const nested = fc.record({
      a: text,
      list: fc.array(text, { maxLength: 3 }),
      'k"': fc.record({ deep: text }),
      n: fc.nat(),
    });
    const marker = /\n…\[(\d+) characters left out, from offset (\d+)\]…\n/;
    fc.assert(
      fc.property(fc.oneof(nested, anyObject), fc.integer({ min: 1_500, max: 30_000 }), (input, limit) => {
        const cut = cutApproval({ ...approval, input }, limit);
        const json = JSON.stringify(input);
        const found: number[] = [];
        let rest = json;
        const look = (part: unknown): unknown => {
          if (typeof part === "object" && part !== null) return Object.values(part).map(look);
          const [shown = "", count, from] = marker.exec(String(part)) ?? [];
          if (count === undefined) return undefined;
          found.push(Number(from));
          const [head = "", tail = ""] = String(part).split(shown);
          const isJson = "truncated_json" in cut.input;
          const written = (some: string) => (isJson ? some : JSON.stringify(some).slice(1, -1));
          // What is shown and what is left out are together what the child sent.
          const whole = written(head) + json.slice(Number(from), Number(from) + Number(count)) + written(tail);
          expect(json.slice(Number(from) - written(head).length)).toStartWith(whole);
          expect(rest).toContain(whole);
          rest = rest.slice(rest.indexOf(whole) + whole.length);
          return undefined;
        };
        look(cut.input);
        expect(cut.cut_at).toBe(found.length > 0 ? Math.min(...found) : undefined);
      }),
      { numRuns: 100 },
    );
  });

  test("names the offset at which a plan goes on in the text that loopback_get reads", () => {
    const plan = '"step"\n'.repeat(1_000);
    for (const input of [{}, { other: "x", plan: "old", last: 1 }]) {
      const cut = cutApproval({ ...approval, tool_name: "ExitPlanMode", input, plan }, 3_000);
      const json = JSON.stringify({ ...input, plan });
      const head = cut.plan?.split("\n…[")[0] ?? "";
      expect(json.slice(0, cut.cut_at)).toEndWith(`"plan":"${JSON.stringify(head).slice(1, -1)}`);
    }
  });
});
