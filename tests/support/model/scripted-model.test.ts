import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { z } from "zod";
import { fromResult, readResults, type ScriptedModel, script, startScriptedModel } from "./scripted-model.ts";

setDefaultTimeout(30_000);

const Answer = z.object({
  stop_reason: z.string(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional(), input: z.unknown().optional() })),
});

describe("the scripted model", () => {
  test("follows the script one assistant turn at a time", async () => {
    await using model = startScriptedModel();
    const prompt = user(script([{ say: "first" }, { say: "second" }]));
    expect(await textOf(model, [prompt])).toBe("first");
    expect(await textOf(model, [prompt, assistant("first"), user("go on")])).toBe("second");
  });

  test("counts neighbouring assistant messages as one turn", async () => {
    await using model = startScriptedModel();
    const prompt = user(script([{ say: "first" }, { say: "second" }, { say: "third" }]));
    expect(await textOf(model, [prompt, assistant("fi"), assistant("rst"), user("go on")])).toBe("second");
  });

  test("obeys the newest script of a conversation", async () => {
    await using model = startScriptedModel();
    const older = [user(script([{ say: "old" }, { say: "older" }])), assistant("old")];
    expect(await textOf(model, [...older, user(script([{ say: "new" }]))])).toBe("new");
  });

  test("finds no script in a system reminder, in a tool's input or in a tool's result", async () => {
    await using model = startScriptedModel();
    const decoy = script([{ say: "decoy" }, { say: "decoy" }]);
    const messages = [
      user([
        { type: "text", text: script([{ say: "real" }, { say: "really" }]) },
        { type: "text", text: `<system-reminder>\n${decoy}\n</system-reminder>` },
      ]),
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "Task", input: { prompt: decoy } }] },
      user([{ type: "tool_result", tool_use_id: "toolu_1", content: decoy }]),
    ];
    expect(await textOf(model, messages)).toBe("really");
  });

  test("reports the tool results when the script is over", async () => {
    await using model = startScriptedModel();
    const messages = [
      user(script([{ use: [{ name: "Read", input: {} }] }])),
      assistant("…"),
      user([
        { type: "tool_result", tool_use_id: "toolu_1", content: "one" },
        { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "text", text: "two" }], is_error: true },
      ]),
    ];
    expect(readResults(await textOf(model, messages))).toEqual([
      { tool_use_id: "toolu_1", is_error: false, content: "one" },
      { tool_use_id: "toolu_2", is_error: true, content: "two" },
    ]);
  });

  test("takes a value for a tool's input from an earlier result, and fails when it isn't there", async () => {
    await using model = startScriptedModel();
    const input = { ids: [fromResult(0, "made", 1, "id")], as: "it is" };
    const prompt = user(script([{ use: [{ name: "Make", input: {} }] }, { use: [{ name: "Use", input }] }]));
    const result = (made: object[]) =>
      user([{ type: "tool_result", tool_use_id: "toolu_1", content: JSON.stringify({ made }) }]);
    const { content } = await ask(model, [prompt, assistant("…"), result([{}, { id: "seven" }])]);
    expect(content).toMatchObject([{ type: "tool_use", input: { ids: ["seven"], as: "it is" } }]);
    const failed = await post(model, { tools: [{}], messages: [prompt, assistant("…"), result([])] });
    expect(failed.status).toBe(400);
    expect(await failed.text()).toContain("nothing is at made.1.id");
  });

  test("thinks before it speaks", async () => {
    await using model = startScriptedModel();
    const { content } = await ask(model, [user(script([{ think: "hm", say: "so" }]))]);
    expect(content).toMatchObject([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "so" },
    ]);
  });

  test("gives a request without tools a short text, whatever the script says", async () => {
    await using model = startScriptedModel();
    const response = await post(model, { messages: [user(script([{ hang: true }]))] });
    expect(Answer.parse(await response.json()).content[0]?.text).toBe("A short text");
  });

  test("uses several tools in one answer", async () => {
    await using model = startScriptedModel();
    const use = ["a", "b"].map((file_path) => ({ name: "Read", input: { file_path } }));
    const answer = await ask(model, [user(script([{ use, say: "both" }]))]);
    expect(answer.stop_reason).toBe("tool_use");
    expect(answer.content.map(({ type, text, input }) => text ?? [type, input])).toEqual([
      "both",
      ["tool_use", { file_path: "a" }],
      ["tool_use", { file_path: "b" }],
    ]);
  });

  test("streams an input of a megabyte in pieces that add up to it", async () => {
    await using model = startScriptedModel();
    const input = { content: "中😀x".repeat(250_000) };
    const prompt = user(script([{ use: [{ name: "Write", input }] }]));
    const response = await post(model, { stream: true, tools: [{}], messages: [prompt] });
    const pieces = [...(await response.text()).matchAll(/^data: (.*input_json_delta.*)$/gm)].map(([, data = ""]) =>
      z.object({ delta: z.object({ partial_json: z.string() }) }).parse(JSON.parse(data)),
    );
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.map(({ delta }) => delta.partial_json).join("")).toBe(JSON.stringify(input));
  });

  test("answers with a scripted HTTP error", async () => {
    await using model = startScriptedModel();
    const messages = [user(script([{ status: 529, message: "too much" }]))];
    const response = await post(model, { tools: [{}], messages });
    expect(response.status).toBe(529);
    expect(await response.json()).toEqual({ type: "error", error: { type: "overloaded_error", message: "too much" } });
  });

  test("breaks the connection in the middle of a scripted cut", async () => {
    await using model = startScriptedModel();
    const response = await post(model, { stream: true, tools: [{}], messages: [user(script([{ cut: true }]))] });
    let received = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) received += decoder.decode(chunk, { stream: true });
    })();
    await expect(reading).rejects.toThrow();
    expect(received).toContain("text_delta");
    expect(received).not.toContain("message_stop");
  });

  test("holds a turn until the test releases it", async () => {
    await using model = startScriptedModel();
    const answer = textOf(model, [user(script([{ say: "now", waitFor: "the test" }]))]);
    model.release("the test");
    expect(await answer).toBe("now");
  });

  test("can be disposed while a request hangs", async () => {
    const model = startScriptedModel();
    const hanging = post(model, { tools: [{}], messages: [user(script([{ hang: true }]))] });
    const settled = hanging.then(
      (response) => response.status,
      () => "closed",
    );
    await model[Symbol.asyncDispose]();
    expect(await settled).not.toBe(200);
  });
});

function user(content: unknown) {
  return { role: "user", content };
}

function assistant(text: string) {
  return { role: "assistant", content: [{ type: "text", text }] };
}

function post(model: ScriptedModel, body: object): Promise<Response> {
  return fetch(`${model.url}/v1/messages?beta=true`, { method: "POST", body: JSON.stringify(body) });
}

async function ask(model: ScriptedModel, messages: object[]) {
  const response = await post(model, { tools: [{}], messages });
  return Answer.parse(await response.json());
}

async function textOf(model: ScriptedModel, messages: object[]): Promise<string> {
  const { content } = await ask(model, messages);
  return content.map(({ text }) => text ?? "").join("");
}
