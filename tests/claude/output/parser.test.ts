import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Parsed, TurnEventDraft } from "../../../src/claude/output/facts.ts";
import { createParser, type Parser } from "../../../src/claude/output/parser.ts";
import { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { textOf } from "../child.ts";

const delta = (text: string, index = 0, extra: object = {}) => ({
  type: "stream_event",
  event: { type: "content_block_delta", index, delta: { type: "text_delta", text } },
  parent_tool_use_id: null,
  ...extra,
});
const started = (id: string) => ({ type: "stream_event", event: { type: "message_start", message: { id } } });
const assistant = (id: string, content: unknown, extra: object = {}) => ({
  type: "assistant",
  message: { id, content },
  ...extra,
});
const text = (words: string) => [{ type: "text", text: words }];

describe.each(["2.1.197", "2.1.325"])("the recorded output of Claude Code %s", (version) => {
  const lines = readFileSync(join(import.meta.dir, "recordings", `${version}.jsonl`), "utf8").split("\n");

  test("becomes events for the text, each call and each result, each once", () => {
    const { events, facts } = parse(lines);
    const told = events.filter(({ type }) => type !== "passthrough").map(summary);
    expect(told).toEqual([
      "content First words.",
      "tool_use Bash echo one",
      "tool_use Bash touch refused",
      "tool_result one",
      "tool_result error",
      "tool_use Read",
      "tool_result 1\tthe note",
      "tool_use Agent",
      "tool_use Bash echo below",
      "tool_result below",
      expect.stringContaining("tool_result"),
      "content Last words: ünï 🙂.",
    ]);
    expect(facts.init).toMatchObject({ version, claudeSessionId: facts.result?.claudeSessionId });
    expect(facts.result).toMatchObject({
      subtype: "success",
      is_error: false,
      text: "Last words: ünï 🙂.",
      numTurns: 5,
    });
    expect(facts.result?.totalCostUsd).toBeGreaterThan(0);
    expect(facts.result?.permissionDenials).toHaveLength(1);
  });

  test("becomes one conversation block for each content block, and none for those of a subagent", () => {
    const blocks = parse(lines).facts.blocks.map(({ role, content }) => `${role} ${content["type"]}`);
    expect(blocks).toEqual([
      "assistant text",
      ...["assistant tool_use", "assistant tool_use", "user tool_result", "user tool_result"],
      ...["assistant tool_use", "user tool_result"],
      ...["assistant tool_use", "user tool_result"],
      "assistant text",
    ]);
  });

  test("becomes events that the contract accepts", () => {
    for (const event of parse(lines).events) expect(TurnEvent.parse(event)).toMatchObject({ ...event });
  });

  test("becomes the same events when another parser continues after any line", () => {
    const whole = parse(lines);
    for (let at = 0; at < lines.length; at++) {
      const first = createParser();
      const before = feed(first, lines.slice(0, at));
      const state: ReturnType<Parser["state"]> = JSON.parse(JSON.stringify(first.state()));
      const after = feed(createParser(state), lines.slice(at));
      const events = [...before.events, ...after.events];
      expect(textOf(events)).toBe(textOf(whole.events));
      expect(events.filter(({ type }) => type !== "content")).toEqual(
        whole.events.filter(({ type }) => type !== "content"),
      );
    }
  });

  test("becomes the same events without partial messages", () => {
    const complete = lines.filter((line) => !line.includes('"stream_event"'));
    expect(parse(complete).events).toEqual(parse(lines).events);
  });
});

describe("createParser", () => {
  test("joins the deltas of a batch into one event", () => {
    expect(parse([started("m"), delta("a"), delta("b"), delta("c")]).events).toEqual([
      { type: "content", text: "abc" },
    ]);
  });

  test("adds only the part of a block that was not streamed", () => {
    const { events } = parse([
      started("m"),
      delta("Hel"),
      assistant("m", text("Hello")),
      assistant("m", text("second")),
    ]);
    expect(textOf(events)).toBe("Hellosecond");
  });

  test("emits a whole message when another one was streamed", () => {
    expect(textOf(parse([started("m"), delta("Hel"), assistant("n", text("Hello"))]).events)).toBe("HelHello");
  });

  test("accepts content that is plain text", () => {
    const user = { type: "user", message: { role: "user", content: "plain" } };
    const { events, facts } = parse([assistant("m", "words"), user]);
    expect(textOf(events)).toBe("words");
    expect(facts.blocks).toEqual([
      { role: "assistant", content: { type: "text", text: "words" } },
      { role: "user", content: { type: "text", text: "plain" } },
    ]);
  });

  test("emits thinking as it streams, and only once", () => {
    const thinking = {
      type: "stream_event",
      event: { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
    };
    const lines = [
      started("m"),
      thinking,
      assistant("m", [{ type: "thinking", thinking: "hm, yes", signature: "s" }]),
      delta("so", 1),
    ];
    expect(parse(lines).events).toEqual([
      { type: "thinking", thinking: "hm, yes" },
      { type: "content", text: "so" },
    ]);
  });

  test("emits a call once, however often it comes", () => {
    const call = assistant("m", [{ type: "tool_use", id: "t", name: "Bash", input: { command: "ls" } }]);
    expect(parse([call, call]).events).toHaveLength(1);
  });

  test("joins the parts of a result, and describes images", () => {
    const content = [
      { type: "text", text: "one" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    ];
    const result = { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t", content }] } };
    expect(parse([result]).events).toEqual([
      {
        type: "tool_result",
        tool_use_id: "t",
        output: "one\n[image, image/png, 4 characters of base64]",
        is_error: false,
      },
    ]);
  });

  test("keeps a subagent's text apart from the child's", () => {
    const below = { parent_tool_use_id: "toolu_1" };
    const lines = [
      started("m"),
      delta("top "),
      delta("below", 0, below),
      assistant("s", text("below"), below),
      delta("level"),
      assistant("m", text("top level")),
    ];
    const { events, facts } = parse(lines);
    expect(textOf(events)).toBe("top level");
    expect(events).toContainEqual({
      type: "passthrough",
      event_type: "subagent/text",
      data: { parent_tool_use_id: "toolu_1", block: text("below")[0] },
    });
    expect(facts.blocks).toHaveLength(1);
  });

  test("names the subagent of a subagent's call, and none for the child's own", () => {
    const use = (id: string) => [{ type: "tool_use", id, name: "Bash", input: { command: "ls" } }];
    const below = { parent_tool_use_id: "toolu_1", subagent_type: "Explore", task_description: "find it" };
    const unnamed = { parent_tool_use_id: "toolu_2", subagent_type: 7 };
    const long = { parent_tool_use_id: "toolu_3", subagent_type: "x".repeat(5_000) };
    const { events } = parse([
      assistant("m", use("a")),
      assistant("s", use("b"), below),
      assistant("s", use("c"), unnamed),
      assistant("s", use("d"), long),
    ]);
    const call = (tool_use_id: string) => ({
      type: "tool_use",
      tool_name: "Bash",
      tool_use_id,
      input: { command: "ls" },
    });
    expect<unknown[]>(events.slice(0, 3)).toEqual([
      call("a"),
      { ...call("b"), parent_tool_use_id: "toolu_1", agent: "Explore (find it)" },
      { ...call("c"), parent_tool_use_id: "toolu_2" },
    ]);
    expect(JSON.stringify(events[3]).length).toBeLessThan(400);
  });

  test("tells a subagent's words from the messages it was sent", () => {
    const below = { parent_tool_use_id: "toolu_1" };
    const sent = { type: "user", message: { role: "user", content: text("the task") }, ...below };
    const types = parse([sent, assistant("s", text("the words"), below)]).events.map((event) =>
      event.type === "passthrough" ? event.event_type : event.type,
    );
    expect(types).toEqual(["subagent/user/text", "subagent/text"]);
  });

  test("passes on a complete line of unknown type", () => {
    const unknown = { type: "system", subtype: "new_thing", more: [1, 2] };
    expect(parse([unknown]).events).toEqual([{ type: "passthrough", event_type: "system/new_thing", data: unknown }]);
  });

  test("passes on garbage unchanged, and joins the lines of a batch", () => {
    const garbage = ["{broken", "[1,2]", "null", '"text"', "\u0000\ufffd", "12", '{"no":"type"}'];
    for (const data of garbage) expect(parse([data]).events).toEqual([unparsed(data)]);
    expect(parse([...garbage, delta("words"), "more"]).events).toEqual([
      unparsed(garbage.join("\n")),
      { type: "content", text: "words" },
      unparsed("more"),
    ]);
  });

  test("joins many lines of garbage into a few events", () => {
    const { events } = parse(Array.from({ length: 100_000 }, () => "y"));
    expect(events.length).toBeWithin(5, 50);
  });

  test.each(["assistant", "user", "system", "stream_event", "never_seen"])(
    "keeps the text of a line of type %s that is nested too deeply to be serialised",
    (type) => {
      const deep = `{"type":"${type}","message":{"content":[{"type":"x","of":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}}`;
      expect(JSON.stringify(parse([deep]))).toContain(JSON.stringify(deep));
    },
  );

  test("keeps the text of a message with too many blocks", () => {
    const many = JSON.stringify(assistant("m", Array(1_000_000).fill({})));
    expect(parse([many])).toEqual({ events: [unparsed(many)], facts: { blocks: [] } });
  });

  test("passes on a message of unknown shape", () => {
    for (const type of ["assistant", "user"]) {
      for (const message of [undefined, null, 1, {}, { content: 5 }, { content: [1] }]) {
        const line = JSON.parse(JSON.stringify({ type, message }));
        expect(parse([line]).events).toEqual([{ type: "passthrough", event_type: type, data: line }]);
      }
    }
  });

  test("does not fail on known types of unknown shape", () => {
    const odd = [null, 1, "x", [], {}, [null], [{}], [{ type: 1 }]];
    for (const type of ["assistant", "user", "result", "stream_event", "system"]) {
      for (const value of odd) {
        parse([{ type, message: value, event: value, subtype: value, usage: value, errors: value }]);
        parse([{ type, message: { content: value }, event: { type: "content_block_delta", delta: value } }]);
      }
    }
  });

  test("counts the model's answers of an interrupted turn, across parsers; otherwise takes the CLI's count", () => {
    const result = (subtype: string) => ({ type: "result", subtype, num_turns: 9 });
    const streamed = (id: string) => ({ type: "stream_event", event: { type: "message_start", message: { id } } });
    const said = (id: string) => assistant(id, [{ type: "text", text: "x" }]);
    const ofSubagent = { ...said("s"), parent_tool_use_id: "toolu_1" };
    const first = createParser();
    feed(first, [streamed("a"), said("a"), ofSubagent, said("a"), said("b")]);
    const interrupted = feed(createParser(first.state()), [said("b"), streamed("c"), result("error_during_execution")]);
    expect(interrupted.facts.result?.numTurns).toBe(3);
    const again = feed(createParser(), [said("a"), result("success"), said("b"), result("error_during_execution")]);
    expect(again.facts.result?.numTurns).toBe(1);
    expect(parse([said("a"), result("success")]).facts.result?.numTurns).toBe(9);
  });

  test("accepts only a UUID as the id of a conversation, since it becomes an argument of the next turn", () => {
    const idIn = (session_id: unknown) => {
      const { init, result } = parse([
        { type: "system", subtype: "init", session_id },
        { type: "result", subtype: "success", session_id },
      ]).facts;
      return [init?.claudeSessionId, result?.claudeSessionId];
    };
    const id = "0b9b1ee6-4a35-4ad3-9d6c-3c1a7f4b2f6e";
    expect(idIn(id)).toEqual([id, id]);
    for (const other of ["--dangerously-skip-permissions", `${id} x`, `${id}\n`, `../${id}`, "", 7, null, [id]])
      expect(idIn(other)).toEqual(["", ""]);
  });

  test("numbers the pieces of an oversized line, across parsers", () => {
    const first = createParser();
    const before = ["a", "b"].map((piece, index) => first.push({ piece, isFirst: index === 0 }));
    const second = createParser(first.state());
    const after = [second.push({ piece: "c", isFirst: false }), second.push({ piece: "d", isFirst: true })];
    expect([...before, ...after].flatMap(({ events }) => events)).toEqual(
      [
        { piece: 1, text: "a" },
        { piece: 2, text: "b" },
        { piece: 3, text: "c" },
        { piece: 1, text: "d" },
      ].map((data) => ({ type: "passthrough", event_type: "oversized", data })),
    );
  });
});

const unparsed = (data: string) => ({ type: "passthrough" as const, event_type: "unparsed", data });

function parse(lines: readonly (string | object)[]): Parsed {
  return feed(createParser(), lines);
}

function feed(parser: Parser, lines: readonly (string | object)[]): Parsed {
  const all: Parsed = { events: [], facts: { blocks: [] } };
  for (const line of lines) {
    const { events, facts } = parser.push(typeof line === "string" ? line : JSON.stringify(line));
    all.events.push(...events);
    all.facts = { ...all.facts, ...facts, blocks: [...all.facts.blocks, ...facts.blocks] };
  }
  all.events.push(...parser.flush());
  return all;
}

function summary(event: TurnEventDraft): string {
  if (event.type === "content") return `content ${event.text}`;
  if (event.type === "tool_use") return ["tool_use", event.tool_name, event.input["command"]].filter(Boolean).join(" ");
  if (event.type === "tool_result") return `tool_result ${event.is_error ? "error" : event.output.split("\n")[0]}`;
  return event.type;
}
