import { z } from "zod";

const Block = z.looseObject({ type: z.string(), content: z.unknown().optional(), is_error: z.boolean().optional() });
const Message = z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(Block)]) });
const Conversation = z.looseObject({
  model: z.string().default("scripted"),
  stream: z.boolean().default(false),
  tools: z.array(z.unknown()).default([]),
  messages: z.array(Message).default([]),
});
type Conversation = z.infer<typeof Conversation>;
type Content = { type: "text"; text: string } | { type: "tool_use"; id: string; name: string; input: object };

export type ToolCall = { name: string; input: object };
/** The result of a call, as the model reads it. */
export type CallResult = { text: string; isError: boolean };
/** What the model answers: words, a call, or both. Without a call, the turn ends. */
export type Reply = { say?: string; call?: ToolCall };
export type ScriptedModel = AsyncDisposable & {
  url: string;
  /** The results of its calls so far. */
  results(): CallResult[];
};

/** None, so that nothing seems to cost anything. */
const USAGE = { input_tokens: 0, output_tokens: 0 };

/**
 * The Messages API on loopback, as far as Claude Code needs it. `reply` gives the model's next answer from the results of
 * its calls; `title` is what it answers to questions on the side, such as for a title.
 */
export function startScriptedModel(reply: (results: CallResult[]) => Reply, title: string): ScriptedModel {
  let results: CallResult[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (request.method === "HEAD") return new Response();
      if (request.method !== "POST" || !pathname.startsWith("/v1/messages")) return refusal(404);
      const conversation = Conversation.safeParse(await request.json().catch(() => undefined)).data;
      if (!conversation) return refusal(400);
      if (pathname.endsWith("/count_tokens")) return Response.json({ input_tokens: USAGE.input_tokens });
      // A request without tools is on the side.
      if (conversation.tools.length === 0) return answer([{ type: "text", text: title }], conversation);
      results = resultsIn(conversation);
      return answer(contentOf(reply(results)), conversation);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    results: () => results,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function contentOf({ say, call }: Reply): Content[] {
  return [
    ...(say === undefined ? [] : [{ type: "text" as const, text: say }]),
    ...(call === undefined ? [] : [{ type: "tool_use" as const, id: uniqueId("toolu"), ...call }]),
  ];
}

function resultsIn({ messages }: Conversation): CallResult[] {
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return blocks
    .filter(({ type }) => type === "tool_result")
    .map(({ content, is_error = false }) => ({ text: JSON.stringify(content), isError: is_error }));
}

function answer(content: Content[], { model, stream }: Conversation): Response {
  const message = { id: uniqueId("msg"), type: "message", role: "assistant", model, usage: USAGE };
  const isCall = content.some(({ type }) => type === "tool_use");
  const stop = { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null };
  if (!stream) return Response.json({ ...message, content, ...stop });
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    ...content.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: opening(block) },
      { type: "content_block_delta", index, delta: delta(block) },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: stop, usage: USAGE },
    { type: "message_stop" },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function opening(content: Content): object {
  return content.type === "text" ? { type: "text", text: "" } : { ...content, input: {} };
}

function delta(content: Content): object {
  if (content.type === "text") return { type: "text_delta", text: content.text };
  return { type: "input_json_delta", partial_json: JSON.stringify(content.input) };
}

function refusal(status: number): Response {
  return Response.json(
    { type: "error", error: { type: "invalid_request_error", message: "not scripted" } },
    { status },
  );
}

function uniqueId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
