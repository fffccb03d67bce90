import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { Decision, DecisionBatch } from "../../../src/contract/approvals/decision.ts";
import { problemsIn, requirementOf } from "../../../src/contract/arguments/problems.ts";
import * as approvals from "../../../src/contract/routes/approvals.ts";
import * as sessions from "../../../src/contract/routes/sessions.ts";
import { optional } from "../../../src/contract/values.ts";
import { TOOLS } from "../../../src/mcp/tools/tools.ts";
import { declared, type ToolName } from "../../support/mcp/tool-answers.ts";

/** Phrases of zod's own messages. */
const OF_ZOD = /Invalid|Too (small|big)|Unrecognized|expected|received|[<>]=/;
const MAX_CHARS = 2_500;

function problemWith(schema: z.ZodType, given: unknown): string {
  const { error } = schema.safeParse(given);
  return error ? problemsIn(error, schema, given) : "nothing";
}

describe("the message about wrong arguments", () => {
  const id = { approval_id: "0190" };
  const several = "a list of 1 to 16 JSON objects";
  test.each<[ToolName, unknown, string]>([
    ["loopback_wait", { timeout_secs: "abc" }, 'timeout_secs must be a number from 0 to 110, got "abc"'],
    ["loopback_wait", { timeout_secs: 111 }, "timeout_secs must be a number from 0 to 110, got 111"],
    ["loopback_wait", { since: 1.5 }, "since must be a whole number of at least 0, got 1.5"],
    ["loopback_wait", { since: {} }, "since must be a whole number of at least 0, got an object"],
    ["loopback_wait", { skip: "a" }, 'skip must be a list of at most 200 strings, got "a"'],
    ["loopback_wait", { skip: ["a", 7] }, "skip[1] must be a string, got 7"],
    ["loopback_wait", { skip: [null] }, "skip[0] must be a string, got null"],
    ["loopback_wait", { skip: Array(201).fill("a") }, "skip must be a list of at most 200 strings, got a list of 201"],
    ["loopback_wait", { consumer: "" }, "consumer must not be empty"],
    ["loopback_wait", { consumer: "x".repeat(101) }, "consumer must have at most 100 characters, got 101"],
    ["loopback_wait", { timeoutSecs: 3 }, 'unknown argument "timeoutSecs" (did you mean "timeout_secs"?)'],
    ["loopback_wait", { timeout: 3 }, 'unknown argument "timeout" (did you mean "timeout_secs"?)'],
    ["loopback_wait", { tiemout_secs: 3 }, 'unknown argument "tiemout_secs" (did you mean "timeout_secs"?)'],
    ["loopback_wait", { for: 3 }, 'unknown argument "for": it takes session_id, since, timeout_secs, skip, consumer'],
    ["loopback_wait", [], "the arguments must be a JSON object, got an empty list"],
    ["loopback_pending", { id: "a" }, 'unknown argument "id" (did you mean "session_id"?)'],
    ["loopback_get", {}, "approval_id is missing: give a string"],
    ["loopback_get", { approval_id: null }, "approval_id is missing: give a string"],
    ["loopback_get", { ...id, length: 0 }, "length must be a whole number from 1 to 30000, got 0"],
    ["loopback_get", { ...id, length: 9, search: "x" }, "length goes without search"],
    ["loopback_respond", {}, "approval_id is missing: give a string; approve is missing: give true or false"],
    ["loopback_respond", { ...id, approve: "yes" }, 'approve must be true or false, got "yes"'],
    ["loopback_respond", { ...id, approve: true, interrupt: true }, "interrupt goes with approve: false only"],
    [
      "loopback_respond",
      { ...id, approve: true, updated_input: "{}" },
      'updated_input must be a JSON object, at most 100 levels deep, got "{}"',
    ],
    ["loopback_respond", { ...id, approve: true, answers: { a: 1 } }, "answers must be {question: label, or [labels]}"],
    [
      "loopback_respond",
      { decisions: [], wait_secs: 1 },
      "decisions must be a list of 1 to 100 JSON objects, got an empty list",
    ],
    ["loopback_respond", { ...id, decisions: [{}] }, "approval_id goes into each of decisions, not beside them"],
    ["loopback_configure", { supervision: "lax" }, 'supervision must be "strict", "default" or "inherit", got "lax"'],
    [
      "claudecode_create",
      { name: "../etc" },
      'name must begin with a letter or digit, and go on with letters, digits, spaces and . _ @ : -, got "../etc"',
    ],
    ["claudecode_create", { working_dir: "/" }, "name is missing: give a string"],
    ["claudecode_create", { name: "a", cwd: "/" }, 'unknown argument "cwd" (did you mean "working_dir"?)'],
    ["loopback_wait", { wait_secs: 3 }, 'unknown argument "wait_secs" (did you mean "timeout_secs"?)'],
    ["loopback_wait", { session_name: "a" }, 'unknown argument "session_name" (did you mean "session_id"?)'],
    ["loopback_wait", { cursor: 3 }, 'unknown argument "cursor" (did you mean "since"?)'],
    ["loopback_get", { ...id, id: "a" }, 'unknown argument "id" (did you mean "approval_id"?)'],
    ["loopback_respond", { decisions: [{}], id: "a" }, 'unknown argument "id" (did you mean "approval_id"?)'],
    ["loopback_respond", { ...id, allow: true }, expect.stringContaining('"allow" (did you mean "approve"?)')],
    ["loopback_respond", { ...id, approve: false, reason: "" }, 'unknown argument "reason" (did you mean "message"?)'],
    ["claudecode_poll", { name: "a", timeout_secs: 3 }, 'unknown argument "timeout_secs" (did you mean "wait_secs"?)'],
    ["claudecode_chat", { session_name: "a", prompt: "x" }, 'unknown argument "session_name" (did you mean "name"?)'],
    ["claudecode_run", { name: "a", workDir: "/" }, 'unknown argument "workDir" (did you mean "working_dir"?)'],
    ["claudecode_run", { name: "a", task: "x" }, 'unknown argument "task" (did you mean "prompt"?)'],
    ["claudecode_create", { name: "a", dir: "/" }, 'unknown argument "dir" (did you mean "working_dir"?)'],
    [
      "claudecode_create",
      { name: "a", max_budget_usd: "5" },
      'max_budget_usd must be a number from 0.000001 to 1000000, got "5"',
    ],
    [
      "claudecode_create",
      { name: "a", metadata: { a: "x".repeat(64_000) } },
      "metadata is 64008 characters of JSON; at most 64000 are kept",
    ],
    [
      "claudecode_create",
      { name: "a", add_dirs: "/tmp" },
      'add_dirs must be a list of at most 100 strings, got "/tmp"',
    ],
    ["claudecode_list", { limit: 3 }, 'unknown argument "limit": it takes after'],
    ["claudecode_run", { children: {} }, `children must be ${several}, got an object`],
    ["claudecode_run", { children: Array(17).fill({}) }, `children must be ${several}, got a list of 17`],
    [
      "claudecode_chat",
      { name: "a", promt: "x" },
      'unknown argument "promt" (did you mean "prompt"?); prompt is missing: give a string',
    ],
    ["claudecode_poll", { name: "a", view: "short" }, 'view must be "events" or "summary", got "short"'],
    ["claudecode_fork", { name: "a" }, "new_name is missing: give a string"],
  ])("by %s, given %j, is %s", (name, given, says) => {
    expect(problemWith(declared(name).input, given)).toEqual(says);
  });

  test.each<[string, z.ZodType, unknown, string]>([
    ["a body", Decision, { approve: 1 }, "approve must be true or false, got 1"],
    ["a batch", DecisionBatch, { decisions: 1 }, "decisions must be a list of 1 to 100 JSON objects, got 1"],
    [
      "a query",
      approvals.listApprovals.query,
      { limit: "many" },
      'limit must be a whole number from 1 to 1000, got "many"',
    ],
    [
      "a choice in a query",
      sessions.listSessions.query,
      { status: "done" },
      expect.stringMatching(/^status must be "idle", .* or "cancelled", got "done"$/),
    ],
    [
      "a flag in a query",
      approvals.listApprovals.query,
      { builtin: "perhaps" },
      'builtin must be true or false, got "perhaps"',
    ],
  ])("of %s is as plain", (_, schema, given, says) => {
    expect(problemWith(schema, given)).toEqual(says);
  });

  test("for a union refers to the closest form, or names all forms", () => {
    const Either = z.strictObject({ at: z.union([z.string(), z.int().min(0)]) });
    expect(problemWith(Either, { at: true })).toBe("at must be a string or a whole number of at least 0, got true");
    const Shapes = z.union([z.strictObject({ one: z.string(), two: z.string() }), z.strictObject({ three: z.int() })]);
    expect(problemWith(Shapes, { one: "a", two: 5 })).toBe("two must be a string, got 5");
    const Tagged = z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("a"), x: z.string() }),
      z.strictObject({ type: z.literal("b") }),
    ]);
    expect(problemWith(Tagged, { type: "c" })).toBe('type must be "a" or "b", got "c"');
    expect(problemWith(Tagged, { type: "a" })).toBe("x is missing: give a string");
  });

  test("stays short and on one line for any arguments", () => {
    const long = "x".repeat(100_000);
    const Many = z.strictObject(Object.fromEntries("abcdefgh".split("").map((name) => [name, z.boolean()])));
    const Listed = z.strictObject({ list: z.array(z.boolean()), named: optional(z.record(z.string(), z.boolean())) });
    const said = [
      problemWith(Many, {}),
      problemWith(Many, Object.fromEntries("abcdefgh".split("").map((name) => [name, long]))),
      problemWith(Many, { [long]: 1, "\u202e\u0000\n": 1 }),
      problemWith(Listed, { list: Array(20_000).fill("y"), named: { [long]: 1 } }),
    ];
    for (const text of said) {
      expect(text.length).toBeLessThan(MAX_CHARS);
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect(said[0]).toEndWith("; and 3 more");
    expect(said[2]).toContain('"\\u{202e}\\u0000\\n"');
    expect(said[3]).toStartWith('list[0] must be true or false, got "y"; list[1]');
  });

  test("for a setting that may be secret does not quote it", () => {
    const Settings = z.object({ token: z.string().min(16).regex(/^\w+$/, "must be plain") });
    for (const token of ["hunter2", "a secret with spaces in it"]) {
      const issue = Settings.safeParse({ token }).error?.issues[0];
      expect(issue && requirementOf(issue, Settings)).toMatch(/^must (have at least 16 characters|be plain)$/);
    }
  });
});

describe("every argument of every tool", () => {
  const WRONG = [
    7,
    -1,
    1.5,
    1e12,
    "",
    "!",
    "x".repeat(20_000),
    true,
    [],
    [7],
    [""],
    ["x".repeat(5_000)],
    {},
    { a: 1 },
    [{}],
  ];
  test.each(TOOLS.operator.map((tool) => [tool.name, tool] as const))(
    "of %s is refused in plain words",
    (_, { input }) => {
      const { properties = {} } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
      for (const name of [...Object.keys(properties), "unheard_of"]) {
        for (const value of WRONG) {
          const said = problemWith(input, { [name]: value });
          expect({ name, said }).toEqual({ name, said: expect.not.stringMatching(OF_ZOD) });
          expect(said).not.toContain("something else");
          expect(said.length).toBeLessThan(MAX_CHARS);
        }
      }
    },
  );
});
