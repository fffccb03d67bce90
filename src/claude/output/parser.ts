import { isJsonObject, isShallow, JsonObject, MAX_JSON_DEPTH } from "../../contract/values.ts";
import type { Parsed, TurnEventDraft } from "./facts.ts";
import { blocksOf, listOf, numberOf, objectOf, outputOf, textOf } from "./lenient.ts";
import { initFact, isOfEarlierTurn, resultFact } from "./line-facts.ts";
import type { OutputLine } from "./line-splitter.ts";
import { nestsDeeper } from "./nesting.ts";
import { createStreamedText, type StreamedTextState } from "./streamed-text.ts";
import { isOfSubagent, subagentBlock, subagentOf } from "./subagent.ts";

/** A parser's state, from which another process can continue: small and JSON. */
type ParserState = {
  streamed: StreamedTextState;
  toolUseIds: string[];
  pieces: number;
  /** The model's answers since the last result; absent in the state of an older version. */
  answers?: Answers | undefined;
};
/** Several lines with the same id form one answer. */
type Answers = { count: number; lastId: string };

export type Parser = {
  /** Parses a line. Streamed text is held until another event or `flush`, so that no event is a single token. */
  push(line: OutputLine["line"]): Parsed;
  /** Returns the held text. Called at the end of each batch of `readOutput`, which sets the pace. */
  flush(): TurnEventDraft[];
  /** Valid after `flush`, for the offset of the last pushed line. */
  state(): ParserState;
};

/** Small pieces of text that will form one event. */
type Held = { kind: "text" | "thinking" | "unparsed"; text: string };

const MAX_HELD_CHARS = 16_384;
const LONG_LINE_CHARS = 262_144;
/** The CLI writes one block per line; no real message has this many. */
const MAX_BLOCKS = 10_000;
/** How many call ids are remembered to store each call once: the CLI repeats a call, if ever, shortly after. */
const REMEMBERED_CALLS = 500;
/** Progress and bookkeeping that other lines report better. */
const SILENT_STREAM_EVENTS = /^(message_start|message_delta|message_stop|content_block_start|content_block_stop|ping)$/;
const SILENT_DELTAS = /^(input_json_delta|signature_delta|citations_delta)$/;

export function createParser(from?: ParserState): Parser {
  const streamed = createStreamedText(from?.streamed);
  const toolUseIds = new Set(from?.toolUseIds);
  let pieces = from?.pieces ?? 0;
  let answers: Answers = from?.answers ?? { count: 0, lastId: "" };
  let held: Held | undefined;
  let raw = "";
  let out: Parsed = nothing();

  const flushHeld = () => {
    if (held) out.events.push(heldEvent(held));
    held = undefined;
  };
  const hold = (kind: Held["kind"], text: string, between = "") => {
    if (text === "") return;
    if (held?.kind !== kind) flushHeld();
    held = { kind, text: held ? held.text + between + text : text };
    if (held.text.length >= MAX_HELD_CHARS) flushHeld();
  };
  const emit = (event: TurnEventDraft) => {
    flushHeld();
    out.events.push(event);
  };
  const keepRaw = () => hold("unparsed", raw, "\n");
  const passOn = (event_type: string, data: JsonObject) =>
    isShallow(data) ? emit({ type: "passthrough", event_type, data }) : keepRaw();

  const answerBegins = (id: string) => {
    if (id !== answers.lastId) answers = { count: answers.count + 1, lastId: id };
  };

  const streamEvent = (line: JsonObject) => {
    // A subagent's message also arrives whole, and its pieces would mix with the child's.
    if (isOfSubagent(line)) return;
    const event = objectOf(line["event"]);
    const type = textOf(event["type"]);
    if (type === "message_start") {
      const id = textOf(objectOf(event["message"])["id"]);
      streamed.begin(id);
      answerBegins(id);
    }
    if (type !== "content_block_delta") {
      if (!SILENT_STREAM_EVENTS.test(type)) passOn(`stream_event/${type}`, line);
      return;
    }
    const delta = objectOf(event["delta"]);
    const kind = textOf(delta["type"]);
    if (kind === "text_delta" || kind === "thinking_delta") {
      const [what, text] =
        kind === "text_delta" ? (["text", delta["text"]] as const) : (["thinking", delta["thinking"]] as const);
      streamed.add(what, numberOf(event["index"]), textOf(text));
      hold(what, textOf(text));
    } else if (!SILENT_DELTAS.test(kind)) passOn(`stream_event/${kind}`, line);
  };

  const assistant = (line: JsonObject) => {
    const message = objectOf(line["message"]);
    const id = textOf(message["id"]);
    if (!isOfSubagent(line)) answerBegins(id);
    for (const block of blocksIn(line)) {
      const type = textOf(block["type"]);
      if (type === "tool_use") toolUse(block, line);
      else if (isOfSubagent(line)) passOn(...subagentBlock(line, "assistant", block));
      else if (type === "text") hold("text", streamed.rest("text", id, textOf(block["text"])));
      else if (type === "thinking") hold("thinking", streamed.rest("thinking", id, textOf(block["thinking"])));
      else passOn(`assistant/${type}`, block);
      if (!isOfSubagent(line)) out.facts.blocks.push({ role: "assistant", content: block });
    }
  };

  /** The blocks of a message. A message of unknown shape is passed on as well. */
  const blocksIn = (line: JsonObject): JsonObject[] => {
    const content = objectOf(line["message"])["content"];
    const blocks = blocksOf(content);
    if (blocks.length > MAX_BLOCKS || !isShallow(line)) {
      keepRaw();
      return [];
    }
    if (blocks.length === 0 || blocks.length < listOf(content).length) passOn(textOf(line["type"]), line);
    return blocks;
  };

  const toolUse = (block: JsonObject, line: JsonObject) => {
    const tool_use_id = textOf(block["id"]);
    if (toolUseIds.has(tool_use_id)) return;
    if (tool_use_id !== "") toolUseIds.add(tool_use_id);
    const [oldest] = toolUseIds;
    if (toolUseIds.size > REMEMBERED_CALLS && oldest !== undefined) toolUseIds.delete(oldest);
    const input = JsonObject.safeParse(block["input"] ?? {});
    if (!input.success) return passOn("assistant/tool_use", block);
    const tool_name = textOf(block["name"]);
    emit({ type: "tool_use", tool_name, tool_use_id, input: input.data, ...subagentOf(line) });
  };

  const user = (line: JsonObject) => {
    for (const block of blocksIn(line)) {
      const type = textOf(block["type"]);
      if (type === "tool_result") {
        const output = outputOf(block["content"]);
        const is_error = block["is_error"] === true;
        // A gateway may reuse ids: the same id after its result is another call.
        toolUseIds.delete(textOf(block["tool_use_id"]));
        emit({ type: "tool_result", tool_use_id: textOf(block["tool_use_id"]), output, is_error });
      } else if (isOfSubagent(line)) passOn(...subagentBlock(line, "user", block));
      else passOn(`user/${type}`, block);
      if (!isOfSubagent(line)) out.facts.blocks.push({ role: "user", content: block });
    }
  };

  const read = (line: JsonObject) => {
    const type = textOf(line["type"]);
    const subtype = textOf(line["subtype"]);
    if (type === "stream_event") return streamEvent(line);
    if (type === "assistant") return assistant(line);
    if (type === "user") return user(line);
    if (type === "result") {
      flushHeld();
      if (!isOfEarlierTurn(line)) out.facts.result = resultFact(line, answers.count);
      answers = { ...answers, count: 0 };
    } else if (type === "system" && subtype === "init") out.facts.init = initFact(line);
    else if (type === "") keepRaw();
    else if (type !== "system" || subtype !== "status") passOn([type, subtype].filter(Boolean).join("/"), line);
  };

  const taken = (): Parsed => {
    const parsed = out;
    out = nothing();
    return parsed;
  };

  return {
    push(line) {
      if (typeof line !== "string") {
        pieces = line.isFirst ? 1 : pieces + 1;
        passOn("oversized", { piece: pieces, text: line.piece });
      } else if (line.trim() !== "") {
        raw = line;
        const value = parsed(line);
        if (value === undefined) keepRaw();
        else read(value);
      }
      return taken();
    },
    flush() {
      flushHeld();
      return taken().events;
    },
    state: () => ({ streamed: streamed.state(), toolUseIds: [...toolUseIds], pieces, answers }),
  };
}

function nothing(): Parsed {
  return { events: [], facts: { blocks: [] } };
}

function heldEvent({ kind, text }: Held): TurnEventDraft {
  if (kind === "text") return { type: "content", text };
  if (kind === "thinking") return { type: "thinking", thinking: text };
  return { type: "passthrough", event_type: kind, data: text };
}

function parsed(line: string): JsonObject | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  if (line.length > LONG_LINE_CHARS && nestsDeeper(line, MAX_JSON_DEPTH)) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
