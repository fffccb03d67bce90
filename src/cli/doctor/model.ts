import { z } from "zod";

const Block = z.looseObject({ type: z.string(), content: z.unknown().optional() });
const Message = z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(Block)]) });
const Conversation = z.looseObject({
  model: z.string().default("scripted"),
  stream: z.boolean().default(false),
  tools: z.array(z.unknown()).default([]),
  messages: z.array(Message).default([]),
});
type Conversation = z.infer<typeof Conversation>;
type Content = { type: "text"; text: string } | { type: "tool_use"; id: string; name: string; input: object };

/** A tool that the model calls, one after the other. */
export type ToolCall = { name: string; input: object };
export type ScriptedModel = AsyncDisposable & { url: string /** What its calls have come to. */; results(): string[] };

const USAGE = { input_tokens: 10, output_tokens: 5 };

/** The Messages API on loopback, as far as Claude Code needs it to make these calls and then end its turn. */
export function startScriptedModel(calls: ToolCall[]): ScriptedModel {
  let results: string[] = [];
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
      // What has no tools is on the side, such as finding a title.
      if (conversation.tools.length === 0) return answer({ type: "text", text: "plexus doctor" }, conversation);
      results = resultsIn(conversation);
      const call = calls[results.length];
      if (!call) return answer({ type: "text", text: "Done." }, conversation);
      return answer({ type: "tool_use", id: uniqueId("toolu"), ...call }, conversation);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    results: () => results,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function resultsIn({ messages }: Conversation): string[] {
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return blocks.filter(({ type }) => type === "tool_result").map(({ content }) => JSON.stringify(content));
}

function answer(content: Content, { model, stream }: Conversation): Response {
  const message = { id: uniqueId("msg"), type: "message", role: "assistant", model, usage: USAGE };
  const stop = { stop_reason: content.type === "tool_use" ? "tool_use" : "end_turn", stop_sequence: null };
  if (!stream) return Response.json({ ...message, content: [content], ...stop });
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: opening(content) },
    { type: "content_block_delta", index: 0, delta: delta(content) },
    { type: "content_block_stop", index: 0 },
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
