import { isJsonObject, JsonObject } from "../schema/values.ts";
import { SERVER_NAME } from "./command-line.ts";
import type { InitFact, Parsed, ResultFact, TurnEventDraft } from "./facts.ts";
import type { OutputLine } from "./line-splitter.ts";
import { blocksOf, listOf, numberOf, objectOf, outputOf, textOf } from "./loose.ts";
import { createStreamedText, type StreamedTextState } from "./streamed-text.ts";

/** Where a parser stands, to go on from in another process; small, and JSON. */
export type ParserState = { streamed: StreamedTextState; toolUseIds: string[] };

export type Parser = {
  /** Text that streams is held until something else happens or `flush` is called, so that no event is one token. */
  push(line: OutputLine["line"]): Parsed;
  /** The text that is held; call it at the end of each batch of `readOutput`, which sets the pace. */
  flush(): TurnEventDraft[];
  /** Valid after `flush`, for the offset of the last pushed line. */
  state(): ParserState;
};

type Pending = { type: "content"; text: string } | { type: "thinking"; thinking: string };

const MAX_HELD_CHARS = 16_384;
/** A call is told once; the CLI could repeat one only shortly after. */
const REMEMBERED_CALLS = 500;
/** Progress and bookkeeping that other lines tell better. */
const SILENT_STREAM_EVENTS = /^(message_start|message_delta|message_stop|content_block_start|content_block_stop|ping)$/;
const SILENT_DELTAS = /^(input_json_delta|signature_delta|citations_delta)$/;

export function createParser(from?: ParserState): Parser {
  const streamed = createStreamedText(from?.streamed);
  const toolUseIds = new Set(from?.toolUseIds);
  let pending: Pending | undefined;
  let out: Parsed = nothing();

  const flushPending = () => {
    if (pending) out.events.push(pending);
    pending = undefined;
  };
  const emit = (event: TurnEventDraft) => {
    flushPending();
    out.events.push(event);
  };
  const passOn = (event_type: string, data: unknown) => emit({ type: "passthrough", event_type, data });

  const say = (kind: "text" | "thinking", text: string) => {
    if (text === "") return;
    if (kind === "text") {
      if (pending?.type === "thinking") flushPending();
      pending = { type: "content", text: (pending?.type === "content" ? pending.text : "") + text };
    } else {
      if (pending?.type === "content") flushPending();
      pending = { type: "thinking", thinking: (pending?.type === "thinking" ? pending.thinking : "") + text };
    }
    if ((pending.type === "content" ? pending.text : pending.thinking).length >= MAX_HELD_CHARS) flushPending();
  };

  const streamEvent = (line: JsonObject) => {
    // A subagent's message follows whole, and its pieces would mix with ours.
    if (isOfSubagent(line)) return;
    const event = objectOf(line["event"]);
    const type = textOf(event["type"]);
    if (type === "message_start") streamed.begin(textOf(objectOf(event["message"])["id"]));
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
      say(what, textOf(text));
    } else if (!SILENT_DELTAS.test(kind)) passOn(`stream_event/${kind}`, line);
  };

  const assistant = (line: JsonObject) => {
    const message = objectOf(line["message"]);
    const id = textOf(message["id"]);
    for (const block of blocksOf(message["content"])) {
      const type = textOf(block["type"]);
      if (type === "tool_use") toolUse(block);
      else if (isOfSubagent(line))
        passOn(`subagent/${type}`, { parent_tool_use_id: line["parent_tool_use_id"], block });
      else if (type === "text") say("text", streamed.rest("text", id, textOf(block["text"])));
      else if (type === "thinking") say("thinking", streamed.rest("thinking", id, textOf(block["thinking"])));
      else passOn(`assistant/${type}`, block);
      if (!isOfSubagent(line)) out.facts.blocks.push({ role: "assistant", content: block });
    }
  };

  const toolUse = (block: JsonObject) => {
    const tool_use_id = textOf(block["id"]);
    if (toolUseIds.has(tool_use_id)) return;
    toolUseIds.add(tool_use_id);
    const [oldest] = toolUseIds;
    if (toolUseIds.size > REMEMBERED_CALLS && oldest !== undefined) toolUseIds.delete(oldest);
    const input = JsonObject.safeParse(block["input"] ?? {});
    if (!input.success) return passOn("assistant/tool_use", block);
    emit({ type: "tool_use", tool_name: textOf(block["name"]), tool_use_id, input: input.data });
  };

  const user = (line: JsonObject) => {
    for (const block of blocksOf(objectOf(line["message"])["content"])) {
      const type = textOf(block["type"]);
      if (type === "tool_result") {
        const output = outputOf(block["content"]);
        const is_error = block["is_error"] === true;
        emit({ type: "tool_result", tool_use_id: textOf(block["tool_use_id"]), output, is_error });
      } else if (isOfSubagent(line)) {
        passOn(`subagent/${type}`, { parent_tool_use_id: line["parent_tool_use_id"], block });
      } else passOn(`user/${type}`, block);
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
      flushPending();
      out.facts.result = resultFact(line);
    } else if (type === "system" && subtype === "init") out.facts.init = initFact(line);
    else if (type !== "system" || subtype !== "status")
      passOn([type, subtype].filter(Boolean).join("/") || "untyped", line);
  };

  const taken = (): Parsed => {
    const parsed = out;
    out = nothing();
    return parsed;
  };

  return {
    push(line) {
      if (typeof line !== "string") passOn("oversized", { bytes: line.oversized });
      else if (line.trim() !== "") {
        const value = parsed(line);
        if (value === undefined) passOn("unparsed", line);
        else read(value);
      }
      return taken();
    },
    flush() {
      flushPending();
      return taken().events;
    },
    state: () => ({ streamed: streamed.state(), toolUseIds: [...toolUseIds] }),
  };
}

function nothing(): Parsed {
  return { events: [], facts: { blocks: [] } };
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isOfSubagent(line: JsonObject): boolean {
  return typeof line["parent_tool_use_id"] === "string";
}

function initFact(line: JsonObject): InitFact {
  const ours = listOf(line["mcp_servers"])
    .map(objectOf)
    .find(({ name }) => name === SERVER_NAME);
  return {
    claudeSessionId: textOf(line["session_id"]),
    model: textOf(line["model"]),
    version: textOf(line["claude_code_version"]),
    plexusStatus: ours && textOf(ours["status"]),
  };
}

function resultFact(line: JsonObject): ResultFact {
  const usage = objectOf(line["usage"]);
  const cached = numberOf(usage["cache_creation_input_tokens"]) + numberOf(usage["cache_read_input_tokens"]);
  return {
    subtype: textOf(line["subtype"]),
    is_error: line["is_error"] === true,
    errors: listOf(line["errors"]).map((error) => (typeof error === "string" ? error : JSON.stringify(error))),
    text: textOf(line["result"]),
    claudeSessionId: textOf(line["session_id"]),
    inputTokens: numberOf(usage["input_tokens"]) + cached,
    outputTokens: numberOf(usage["output_tokens"]),
    numTurns: numberOf(line["num_turns"]),
    totalCostUsd: numberOf(line["total_cost_usd"]),
    permissionDenials: listOf(line["permission_denials"]),
  };
}
