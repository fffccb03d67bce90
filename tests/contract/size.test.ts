import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ToldApproval } from "../../src/contract/approvals/approval.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import type { ToolAnswer } from "../support/mcp/mcp-client.ts";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";

const OPERATOR = { kind: "operator" } as const;
const MAX = 40_000;
const MEGABYTE = 1_000_000;

/** Inputs of about this many characters, each of which grows or breaks differently as JSON. */
const inputsOf = (size: number): Record<string, JsonObject> => {
  const repeat = (text: string) => text.repeat(size / text.length);
  const many = <T>(each: number, item: (index: number) => T) =>
    Array.from({ length: size / each }, (_, index) => item(index));
  return {
    "plain text": { content: repeat("x") },
    quotes: { content: repeat('"') },
    backslashes: { content: repeat("\\") },
    "control characters": { content: repeat("\u0001") },
    "quotes and control characters": { content: repeat('"\u0000\\\n') },
    "characters outside the basic plane": { content: repeat("😀") },
    "lone surrogates": { content: repeat("\ud800") },
    "one long key": { [repeat("k")]: 1 },
    "many keys": Object.fromEntries(many(20, (index) => [`key-${index}`, "v"])),
    "many short texts": { lines: many(20, (index) => `line ${index}`) },
    "many numbers": { numbers: many(7, (index) => index) },
    "texts at many depths": nest(90, "y".repeat(size / 100)),
    "keys that are prototypes": JSON.parse(`{"__proto__":"${repeat("p")}","constructor":"q"}`),
  };
};

function nest(depth: number, text: string): JsonObject {
  return depth === 0 ? { text } : { text, inside: nest(depth - 1, text) };
}

/** The longest and worst values of the fields beside the input. */
const WORST = { tool_name: "\u0001".repeat(512), tool_use_id: "\u0001".repeat(512) };

describe.each(Object.entries(inputsOf(MEGABYTE)))("a megabyte of %s", (_, input) => {
  test("never makes a result longer than 40,000 characters, and is marked as shortened", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const session = await plexus.app.sessions.createByHand(OPERATOR, "s".repeat(100));
    const { approvalId } = await plexus.app.approvals.request(session, { ...WORST, input });
    const answers = [
      await parent.call("loopback_wait"),
      await parent.call("loopback_get", { approval_id: approvalId }),
      await parent.call("loopback_pending"),
    ];
    for (const answer of answers) {
      expectShort(answer);
      const [approval] = approvalsIn(answer);
      expect(approval).toMatchObject({ truncated: true, input_size: JSON.stringify(input).length });
      expect(JSON.stringify(approval?.input).length).toBeGreaterThan(1_000);
    }
    const { contents } = await parent.client.readResource({ uri: "loopback://approvals/pending" });
    const [content] = contents;
    expect((content && "text" in content ? content.text : "").length).toBeWithin(1_000, MAX + 1);
  });
});

describe.each(Object.entries(inputsOf(MEGABYTE / 8)))("an input of %s", (_, input) => {
  test("can be read in slices that add up to its exact JSON text", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const session = await plexus.app.sessions.createByHand(OPERATOR);
    const { approvalId } = await plexus.app.approvals.request(session, { tool_name: "Write", input });
    const total = JSON.stringify(input).length;
    let text = "";
    for (let more = true; more; ) {
      const answer = await parent.call("loopback_get", { approval_id: approvalId, offset: text.length });
      expectShort(answer);
      const part = String(answer.value["text"]);
      expect(answer.value).toMatchObject({ approval_id: approvalId, offset: text.length, length: part.length, total });
      expect(part.length).toBeGreaterThan(0);
      text += part;
      more = answer.value["has_more"] === true;
    }
    expect(text === JSON.stringify(input)).toBe(true);
  });
});

describe("a slice", () => {
  test("beyond the end is empty, and says that nothing follows", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const session = await plexus.app.sessions.createByHand(OPERATOR);
    const { approvalId } = await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "ls" } });
    for (const offset of [16, 17, Number.MAX_SAFE_INTEGER]) {
      const { value } = await parent.call("loopback_get", { approval_id: approvalId, offset });
      expect(value).toMatchObject({ text: "", length: 0, total: 16, has_more: false });
    }
  });

  test("of a removed input says so, and so does the whole input", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const session = await plexus.app.sessions.createByHand(OPERATOR);
    using ask = await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "ls" } });
    const { approvalId: approval_id } = ask;
    await plexus.app.approvals.decide(OPERATOR, approval_id, { approve: true });
    using sqlite = new Database(join(plexus.dataDir, "plexus.db"));
    sqlite.run("UPDATE loopback_approvals SET input='{}', input_cut_at=5000");
    const whole = await parent.call("loopback_get", { approval_id });
    expect(whole.value).toMatchObject({ approval: { input: {}, input_removed_at: 5 } });
    const slice = await parent.call("loopback_get", { approval_id, offset: 0 });
    for (const { value } of [whole, slice]) expect(value["next"]).toContain("Its input was removed to save space.");
  });

  test("of a short input is the whole input", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const session = await plexus.app.sessions.createByHand(OPERATOR);
    const { approvalId } = await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "ls" } });
    const { value } = await parent.call("loopback_get", { approval_id: approvalId, length: 30_000 });
    expect(value).toMatchObject({ text: '{"command":"ls"}', offset: 0, length: 16, has_more: false });
  });
});

describe("a list", () => {
  test("of 500 pending approvals has as many as fit, oldest first, and says that there are more", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const ids = await manyAsks(plexus, 500, () => ({ command: "ls" }));
    for (const tool of ["loopback_pending", "loopback_wait"]) {
      const answer = await parent.call(tool);
      expectShort(answer);
      const listed = approvalsIn(answer).map((approval) => approval.id);
      expect(listed.length).toBeGreaterThan(50);
      expect(listed).toEqual(ids.slice(0, listed.length));
      expect(answer.value["has_more"]).toBe(true);
    }
  });

  test("can be worked off in rounds, with each approval once", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const ids = await manyAsks(plexus, 300, (index) => ({ content: "x".repeat((index % 7) * 3_000) }));
    const seen: string[] = [];
    for (let more = true; more; ) {
      const answer = await parent.call("loopback_wait", { timeout_secs: 0 });
      expectShort(answer);
      const listed = approvalsIn(answer).map((approval) => approval.id);
      seen.push(...listed);
      more = answer.value["has_more"] === true;
      await Promise.all(listed.map((id) => plexus.app.approvals.decide(OPERATOR, id, { approve: false })));
    }
    expect(seen).toEqual(ids);
    expect((await parent.call("loopback_wait", { timeout_secs: 0 })).value["type"]).toBe("timeout");
  }, 30_000);

  test("of approvals with the worst names and inputs stays short", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    await manyAsks(plexus, 50, () => ({ content: "\u0001".repeat(40_000) }), WORST);
    const answer = await parent.call("loopback_pending");
    expectShort(answer);
    expect(answer.value["has_more"]).toBe(true);
    expect(approvalsIn(answer).length).toBeGreaterThan(1);
  });

  test("that fits says that there are no more", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    await manyAsks(plexus, 20, () => ({ command: "ls" }));
    const answer = await parent.call("loopback_pending");
    expect(approvalsIn(answer)).toHaveLength(20);
    expect(answer.value["has_more"]).toBe(false);
  });
});

describe("an approval that was decided", () => {
  test("stays short with the longest message and updated input", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const session = await plexus.app.sessions.createByHand(OPERATOR, "s".repeat(100));
    const input = { content: "\u0001".repeat(100_000) };
    const asked = await plexus.app.approvals.request(session, { ...WORST, input });
    await parent.call("loopback_respond", {
      approval_id: asked.approvalId,
      approve: true,
      message: "\u0001".repeat(8_000),
      updated_input: { content: "\u0001".repeat(8_000) },
    });
    expectShort(await parent.call("loopback_get", { approval_id: asked.approvalId }));
  });
});

describe("a refusal", () => {
  const LONG = "\u0001".repeat(100_000);

  test.each([
    ["a long argument name", "loopback_wait", { [LONG]: 1 }],
    ["a long session id", "loopback_wait", { session_id: LONG }],
    ["a long approval id", "loopback_get", { approval_id: LONG }],
    ["a long text where a boolean belongs", "loopback_respond", { approval_id: "x", approve: LONG }],
    [
      "a thousand unknown arguments",
      "loopback_wait",
      Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`${n}${LONG.slice(0, 500)}`, 1])),
    ],
  ])("of %s stays short", async (_, tool, args) => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    expectShort(await parent.call(tool, args));
  });

  test("of a long tool name stays short", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    expectShort(await parent.call(LONG));
  });

  test("of a child's long argument stays short", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    const child = await plexus.connect(token);
    expectShort(await child.call("loopback_permit", { tool_name: LONG, input: LONG, tool_use_id: LONG }));
  });
});

function expectShort(answer: ToolAnswer): void {
  expect(answer.text.length).toBeLessThanOrEqual(MAX);
}

function approvalsIn({ value }: ToolAnswer): ToldApproval[] {
  return ToldApproval.array().parse(value["approvals"] ?? [value["approval"]]);
}

async function manyAsks(
  plexus: Plexus,
  count: number,
  input: (index: number) => JsonObject,
  names = {},
): Promise<string[]> {
  const session = await plexus.app.sessions.createByHand(OPERATOR);
  const asks = Array.from({ length: count }, (_, index) =>
    plexus.app.approvals.request(session, {
      tool_name: "Bash",
      ...names,
      tool_use_id: `${index}`,
      input: input(index),
    }),
  );
  return (await Promise.all(asks)).map((ask) => ask.approvalId);
}
