import { z } from "zod";
import { checkResult } from "./tool-answers.ts";

const Message = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z
    .looseObject({
      content: z.array(z.object({ type: z.literal("text"), text: z.string() })).optional(),
      structuredContent: z.unknown().optional(),
      isError: z.boolean().optional(),
    })
    .optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
export type Message = z.infer<typeof Message>;
export type StreamEvent = { id: string | undefined; retry: string | undefined; message: Message | undefined };

/** MCP on the wire, for details that the official client hides: event ids, progress, the order of events. */
export type RawStream = {
  status: number;
  headers: Headers;
  /** The next event; `undefined` at the end of the stream. */
  next(): Promise<StreamEvent | undefined>;
  /** Reads on to the answer of the call. */
  response(): Promise<Message>;
  /** Reads on to the answer of the call, and returns its text. */
  answer(): Promise<string>;
  disconnect(): void;
};

const ToolCallMessage = z.object({ method: z.literal("tools/call"), params: z.object({ name: z.string() }) });

type Options = { token?: string | null; headers?: Record<string, string> };

export const CLI_PROTOCOL = { "mcp-protocol-version": "2025-11-25" };

export async function post(url: string, message: unknown, options: Options = {}): Promise<RawStream> {
  const { data } = ToolCallMessage.safeParse(message);
  return open(url, { method: "POST", body: JSON.stringify(message) }, { ...options, tool: data?.params.name });
}

export async function get(url: string, options: Options = {}): Promise<RawStream> {
  return open(url, { method: "GET" }, options);
}

/** A `tools/call` of the permit as the CLI sends it. */
export function permitMessage(input: object, { id = 1, toolUseId }: { id?: number; toolUseId?: string } = {}): object {
  const tool_use_id = toolUseId === undefined ? {} : { tool_use_id: toolUseId };
  const args = { tool_name: "Bash", input, ...tool_use_id };
  const params = { name: "loopback_permit", arguments: args, _meta: { progressToken: id } };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

async function open(
  url: string,
  init: RequestInit,
  { token, headers = {}, tool }: Options & { tool?: string | undefined },
): Promise<RawStream> {
  const connection = new AbortController();
  const response = await fetch(new URL("/mcp", url), {
    ...init,
    signal: connection.signal,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...CLI_PROTOCOL,
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
  const events = readEvents(response);
  const next = async () => {
    const event = (await events.next()).value ?? undefined;
    if (tool !== undefined && event?.message?.result) checkResult(tool, event.message.result);
    return event;
  };
  const answered = async () => {
    for (;;) {
      const event = await next();
      if (!event) throw new Error("the stream ended without an answer");
      if (event.message?.result || event.message?.error) return event.message;
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    response: answered,
    async answer() {
      const { result, error } = await answered();
      if (error) throw new Error(error.message);
      return result?.content?.[0]?.text ?? "";
    },
    disconnect: () => connection.abort(),
  };
}

async function* readEvents(response: Response): AsyncGenerator<StreamEvent, undefined> {
  if (response.headers.get("content-type")?.startsWith("application/json")) {
    yield { id: undefined, retry: undefined, message: Message.parse(await response.json()) };
    return undefined;
  }
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      yield parseEvent(block);
    }
  }
  return undefined;
}

function parseEvent(block: string): StreamEvent {
  const field = (name: string) =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const data = field("data");
  return { id: field("id"), retry: field("retry"), message: data ? Message.parse(JSON.parse(data)) : undefined };
}
