import { z } from "zod";
import { JsonObject } from "../contract/values.ts";
import { messagesOf } from "./bridge/event-stream.ts";

/**
 * Every form of answer that our server sends to a call. Parsed without the SDK, which takes longer to load than most
 * calls.
 */
const Answer = z.union([
  z.object({
    result: z.object({
      content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
      isError: z.boolean().default(false),
    }),
  }),
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
]);

const ListedTool = z.object({ name: z.string(), inputSchema: JsonObject });
type ListedTool = z.infer<typeof ListedTool>;
const ToolList = z.object({ result: z.object({ tools: z.array(ListedTool) }) });

/** The result of a tool: the JSON of its text. */
export type CallOutcome = { isError: boolean; value: unknown };

type Fetch = (path: string, init: RequestInit) => Promise<Response>;

/**
 * Calls one tool of a running server with a single request: our server needs no handshake. Returns `undefined` if the
 * stream ends without an answer.
 */
export async function callTool(
  server: { fetch: Fetch },
  name: string,
  args: Record<string, unknown>,
): Promise<CallOutcome | undefined> {
  for await (const message of messagesOf(await request(server, "tools/call", { name, arguments: args }))) {
    const answer = Answer.safeParse(message).data;
    if (answer) return outcomeOf(answer);
  }
  return undefined;
}

/** Lists the tools that the server has for this caller. */
export async function listTools(server: { fetch: Fetch }): Promise<ListedTool[]> {
  for await (const message of messagesOf(await request(server, "tools/list", {}))) {
    const answer = ToolList.safeParse(message).data;
    if (answer) return answer.result.tools;
  }
  return [];
}

function request(server: { fetch: Fetch }, method: string, params: JsonObject): Promise<Response> {
  return server.fetch("/mcp", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
}

function outcomeOf(answer: z.infer<typeof Answer>): CallOutcome {
  if ("error" in answer) {
    const { code, message } = answer.error;
    return { isError: true, value: { type: "error", code: String(code), message } };
  }
  const { content, isError } = answer.result;
  const text = content.map((block) => block.text).join("");
  return { isError, value: parsed(text) ?? text };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
