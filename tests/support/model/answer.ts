import type { SpokenTurn } from "./script.ts";

type Delta =
  | { type: "text_delta"; text: string }
  | { type: "thinking_delta"; thinking: string }
  | { type: "signature_delta"; signature: string }
  | { type: "input_json_delta"; partial_json: string };
type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "tool_use"; id: string; name: string; input: object };
type Part = { opening: Block; complete: Block; deltas: Delta[] };

const FEWEST_PIECES = 3;
const LONGEST_PIECE = 32_768;

/** One assistant message of the Messages API, sent as a whole or as server-sent events. */
export function createAnswer(turn: SpokenTurn, model: string) {
  const uses = "use" in turn ? turn.use : [];
  const parts = [
    ...(turn.think === undefined ? [] : [thinkingPart(turn.think)]),
    ...(turn.say === undefined ? [] : [textPart(turn.say)]),
    ...uses.map(toolPart),
  ];
  const stop = { stop_reason: uses.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: uniqueId("msg"), type: "message", role: "assistant", model };

  async function* events(): AsyncGenerator<string> {
    const start = { ...message, content: [], stop_reason: null, stop_sequence: null, usage };
    yield event("message_start", { message: start });
    for (const [index, { opening, deltas }] of parts.entries()) {
      yield event("content_block_start", { index, content_block: opening });
      for (const delta of deltas) {
        yield event("content_block_delta", { index, delta });
        if (delta.type === "text_delta" && turn.delayMs !== undefined) await Bun.sleep(turn.delayMs);
      }
      yield event("content_block_stop", { index });
    }
    yield event("message_delta", { delta: stop, usage });
    yield event("message_stop", {});
  }

  return { message: { ...message, content: parts.map(({ complete }) => complete), ...stop, usage }, events };
}

function textPart(say: string | string[]): Part {
  const texts = typeof say === "string" ? pieces(say) : say;
  return {
    opening: { type: "text", text: "" },
    complete: { type: "text", text: texts.join("") },
    deltas: texts.map((text) => ({ type: "text_delta", text })),
  };
}

function thinkingPart(thinking: string): Part {
  const signature = "scripted";
  return {
    opening: { type: "thinking", thinking: "", signature: "" },
    complete: { type: "thinking", thinking, signature },
    deltas: [
      ...pieces(thinking).map((piece) => ({ type: "thinking_delta" as const, thinking: piece })),
      { type: "signature_delta", signature },
    ],
  };
}

function toolPart(use: { name: string; input: object; id?: string | undefined }): Part {
  const block = { type: "tool_use" as const, id: use.id ?? uniqueId("toolu"), name: use.name };
  return {
    opening: { ...block, input: {} },
    complete: { ...block, input: use.input },
    deltas: pieces(JSON.stringify(use.input)).map((partial_json) => ({ type: "input_json_delta", partial_json })),
  };
}

/** Splits by code point, so that no piece ends in half a surrogate pair. */
function pieces(text: string): string[] {
  const points = [...text];
  const length = Math.max(1, Math.min(LONGEST_PIECE, Math.ceil(points.length / FEWEST_PIECES)));
  return Array.from({ length: Math.ceil(points.length / length) }, (_, at) =>
    points.slice(at * length, (at + 1) * length).join(""),
  );
}

function event(type: string, body: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}

function uniqueId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
