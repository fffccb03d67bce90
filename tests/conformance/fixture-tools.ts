import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type {
  CallToolResult,
  ElicitRequestFormParams,
  ServerNotification,
  ServerRequest,
  Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { CONTENT_TOOLS } from "./fixture-contents.ts";
import { text } from "./samples.ts";

type Call = { server: Server; input: unknown; extra: RequestHandlerExtra<ServerRequest, ServerNotification> };
type FixtureTool = {
  description: string;
  inputSchema?: Tool["inputSchema"];
  run(call: Call): CallToolResult | Promise<CallToolResult>;
};

/** The tools that the suite calls in revisions up to 2025-11-25, by name. */
export const TOOLS: Record<string, FixtureTool> = {
  ...contentTools(),
  test_tool_with_logging: {
    description: "Logs three times before it answers",
    async run({ extra }) {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await extra.sendNotification({ method: "notifications/message", params: { level: "info", data } });
      }
      return { content: [text("Logged three times.")] };
    },
  },
  test_tool_with_progress: {
    description: "Tells of its progress three times before it answers",
    async run({ extra }) {
      const progressToken = extra._meta?.progressToken;
      if (progressToken === undefined) return { content: [text("Nobody asked for progress.")] };
      for (const progress of [0, 50, 100]) {
        const params = { progressToken, progress, total: 100 };
        await extra.sendNotification({ method: "notifications/progress", params });
      }
      return { content: [text("Progressed from 0 to 100.")] };
    },
  },
  test_sampling: {
    description: "Asks the client's model",
    inputSchema: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    async run({ server, input, extra }) {
      const { prompt } = z.object({ prompt: z.string() }).parse(input);
      const answer = await server.createMessage(
        { messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 },
        { relatedRequestId: extra.requestId },
      );
      return { content: [text(`LLM response: ${JSON.stringify(answer.content)}`)] };
    },
  },
  test_elicitation: {
    description: "Asks the client's user",
    inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    run(call) {
      const { message } = z.object({ message: z.string() }).parse(call.input);
      const username = { type: "string" as const, description: "User's response" };
      const email = { type: "string" as const, description: "User's email address" };
      return elicited(call, message, { username, email });
    },
  },
  test_elicitation_sep1034_defaults: {
    description: "Asks the client's user, with a default for each kind of field",
    run: (call) =>
      elicited(call, "Each field has a default.", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      }),
  },
  test_elicitation_sep1330_enums: {
    description: "Asks the client's user, with each kind of choice",
    run: (call) =>
      elicited(call, "Each field is a choice.", {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: titled("First", "Second", "Third") },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
        titledMulti: { type: "array", items: { anyOf: titled("First", "Second", "Third") } },
      }),
  },
  test_reconnection: {
    description: "Ends its stream before it answers, where the transport can resume it",
    run({ extra }) {
      extra.closeSSEStream?.();
      return { content: [text("Answered after the stream had ended.")] };
    },
  },
};

function contentTools(): Record<string, FixtureTool> {
  const tools = Object.entries(CONTENT_TOOLS);
  return Object.fromEntries(
    tools.map(([name, { run, ...described }]) => [name, { ...described, run: ({ input }: Call) => run(input) }]),
  );
}

function titled(...ordinals: string[]) {
  return ordinals.map((ordinal, index) => ({ const: `value${index + 1}`, title: `${ordinal} Option` }));
}

/** Sent on the stream of the call, so that it reaches the client even if that has no other stream. */
async function elicited(
  { server, extra }: Call,
  message: string,
  properties: ElicitRequestFormParams["requestedSchema"]["properties"],
): Promise<CallToolResult> {
  const requestedSchema = { type: "object" as const, properties, required: Object.keys(properties) };
  const { action, content } = await server.elicitInput(
    { message, requestedSchema },
    { relatedRequestId: extra.requestId },
  );
  return { content: [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)] };
}
