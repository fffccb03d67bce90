import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  ErrorCode as RpcErrorCode,
  type Tool as SdkTool,
  SubscribeRequestSchema,
  ToolSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { ZodError, z } from "zod";
import type { App, Principal } from "../app.ts";
import { cutText } from "../contract/cut.ts";
import { AppError } from "../contract/errors.ts";
import { errorFields } from "../log.ts";
import { VERSION } from "../version.ts";
import { CHILD_INSTRUCTIONS, DECIDER_INSTRUCTIONS } from "./instructions.ts";
import { CHILD_PERMIT, canonicalName, DECIDER_TOOLS, OPERATOR_PERMIT, PERMIT } from "./tools/approval-tools.ts";
import { CONVERSATION_TOOLS } from "./tools/conversation-tools.ts";
import { fitApprovals, invalidArguments, refusal, result } from "./tools/results.ts";
import { SESSION_TOOLS } from "./tools/session-tools.ts";
import type { RunnableTool, Tool, ToolCall } from "./tools/tool.ts";

export const PENDING_URI = "loopback://approvals/pending";

/** Shared by all servers: to build one for each would cost more than all the rest of a client session. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();
const info = { name: "plexus", title: "Plexus", version: VERSION };

const PARENT_TOOLS: RunnableTool[] = [...DECIDER_TOOLS, ...SESSION_TOOLS, ...CONVERSATION_TOOLS];
const TOOLS: Record<Principal["kind"], Tool[]> = {
  operator: [...PARENT_TOOLS, OPERATOR_PERMIT],
  token: PARENT_TOOLS,
  session: [CHILD_PERMIT],
};
const listings = new Map<Principal["kind"], SdkTool[]>();

/** Made when first asked for, since the schemas take longer than all the rest of the start. */
function listing(role: Principal["kind"]): SdkTool[] {
  const known = listings.get(role) ?? TOOLS[role].map(listed);
  listings.set(role, known);
  return known;
}

/** A server of the SDK, and the resources that its client has subscribed to. */
export type McpServer = { server: Server; subscribed: Set<string> };
export type CreateServer = (app: App, principal: Principal) => McpServer;

/** An MCP server that has the tools of the caller's role and no others. */
export function createMcpServer(app: App, principal: Principal): McpServer {
  const isChild = principal.kind === "session";
  const server = new Server(info, {
    capabilities: isChild ? { tools: {} } : { tools: {}, resources: { subscribe: true }, logging: {} },
    instructions: isChild ? CHILD_INSTRUCTIONS : DECIDER_INSTRUCTIONS,
    jsonSchemaValidator,
  });
  const subscribed = new Set<string>();
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listing(principal.kind) }));
  server.setRequestHandler(CallToolRequestSchema, (request, extra) => {
    const gone = extra.authInfo?.extra?.["signal"];
    const signal = gone instanceof AbortSignal ? AbortSignal.any([gone, extra.signal]) : extra.signal;
    const progressToken = request.params._meta?.progressToken;
    const progress: ToolCall["progress"] = (count, message) => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: count, message };
      // A client that has gone needs no progress.
      void extra.sendNotification({ method: "notifications/progress", params }).catch(() => {});
    };
    const { name, arguments: input = {} } = request.params;
    return callTool({ app, principal, signal, progress }, canonicalName(name), input);
  });
  if (!isChild) serveResources(app, principal, server, subscribed);
  return { server, subscribed };
}

async function callTool(call: ToolCall, name: string, input: unknown): Promise<CallToolResult> {
  const { app, principal } = call;
  try {
    const tool = principal.kind === "session" ? undefined : PARENT_TOOLS.find((candidate) => candidate.name === name);
    if (!tool) throw unknownTool(principal, name);
    return result(await tool.run(call, input));
  } catch (cause) {
    if (cause instanceof AppError) return refusal(cause);
    if (cause instanceof ZodError) return refusal(invalidArguments(name, cause));
    app.log.error("a tool failed", { tool: name, ...errorFields(cause) });
    return refusal(new AppError("internal", "Plexus failed inside; its log has the details. Nothing was allowed."));
  }
}

function unknownTool(principal: Principal, name: string): AppError {
  const names = TOOLS[principal.kind].map((tool) => tool.name);
  if (name === PERMIT && names.includes(PERMIT)) {
    return new AppError("invalid_arguments", `${PERMIT} must be called alone, not within a batch.`);
  }
  return new AppError("not_found", `You have no tool "${cutText(name, 100)}". Your tools: ${names.join(", ")}.`);
}

function serveResources(app: App, principal: Principal, server: Server, subscribed: Set<string>): void {
  const known = (uri: string) => {
    if (uri !== PENDING_URI)
      throw new McpError(RpcErrorCode.InvalidParams, `Unknown resource ${uri}: there is ${PENDING_URI}.`);
  };
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: [
      {
        uri: PENDING_URI,
        name: "pending-approvals",
        title: "Pending approvals",
        description: "What waits for your decision. The inputs are untrusted text from children.",
        mimeType: "application/json",
      },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    known(uri);
    const pending = fitApprovals(await app.approvals.pending(principal, undefined, 200));
    const text = JSON.stringify({ type: "ok", ...pending, untrusted: ["approvals"] });
    return { contents: [{ uri, mimeType: "application/json", text }] };
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    known(uri);
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
}

function listed({ name, title, description, input, annotations }: Tool): SdkTool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return ToolSchema.parse({ name, title, description, inputSchema, annotations });
}
