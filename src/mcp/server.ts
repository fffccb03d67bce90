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
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { ZodError } from "zod";
import type { App, Principal } from "../app.ts";
import { cutText } from "../contract/cut.ts";
import { AppError } from "../contract/errors.ts";
import type { PendingResource } from "../contract/tools/approval-answers.ts";
import { errorFields, type Log } from "../log.ts";
import { VERSION } from "../version.ts";
import { CHILD_INSTRUCTIONS, DECIDER_INSTRUCTIONS } from "./instructions.ts";
import { listed } from "./tools/listing.ts";
import { canonicalName, PERMIT } from "./tools/names.ts";
import { fitApprovals, invalidArguments, MAX_LISTED, refusal, result } from "./tools/results.ts";
import { isRunnable, type ToolApp, type ToolCall } from "./tools/tool.ts";
import { TOOLS } from "./tools/tools.ts";

export const PENDING_URI = "loopback://approvals/pending";

const INFO = { name: "plexus", title: "Plexus", version: VERSION };

/** What the servers use of the app. */
export type ServerApp = ToolApp & Pick<App, "log">;
/** A server of the SDK, and the resources that its client has subscribed to. */
export type McpServer = { server: Server; subscribed: Set<string> };
export type CreateServer = (principal: Principal) => McpServer;

/** Makes MCP servers, one for each client, that have the tools of the caller's role and no others. */
export function createMcpServers(app: ServerApp): CreateServer {
  /** Shared by all servers: to build one for each would cost more than all the rest of a client session. */
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const listings = new Map<Principal["kind"], SdkTool[]>();

  /** Made when first asked for, since the schemas take longer than all the rest of the start. */
  function listing(role: Principal["kind"]): SdkTool[] {
    const known = listings.get(role) ?? TOOLS[role].map(listed);
    listings.set(role, known);
    return known;
  }

  return (principal) => {
    const isChild = principal.kind === "session";
    const server = new Server(INFO, {
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
      return callTool({ app, principal, signal, progress }, canonicalName(name), input, app.log);
    });
    if (!isChild) serveResources(app, principal, server, subscribed);
    return { server, subscribed };
  };
}

async function callTool(call: ToolCall, name: string, input: unknown, log: Log): Promise<CallToolResult> {
  const { principal } = call;
  try {
    const tool = TOOLS[principal.kind].filter(isRunnable).find((candidate) => candidate.name === name);
    if (!tool) throw unknownTool(principal, name);
    return result(await tool.run(call, input));
  } catch (cause) {
    if (cause instanceof AppError) return refusal(cause);
    if (cause instanceof ZodError) return refusal(invalidArguments(name, cause));
    log.error("a tool failed", { tool: name, ...errorFields(cause) });
    return refusal(new AppError("internal", "Plexus failed inside; its log has the details. Nothing was allowed."));
  }
}

function unknownTool(principal: Principal, name: string): AppError {
  const names = TOOLS[principal.kind].map((tool) => tool.name);
  if (name === PERMIT && names.includes(name)) {
    return new AppError("invalid_arguments", `${name} must be called alone, not within a batch.`);
  }
  return new AppError("not_found", `You have no tool "${cutText(name, 100)}". Your tools: ${names.join(", ")}.`);
}

function serveResources(app: ToolApp, principal: Principal, server: Server, subscribed: Set<string>): void {
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
    const shown = fitApprovals(await app.approvals.pending(principal, undefined, MAX_LISTED));
    const pending: PendingResource = { type: "ok", ...shown, untrusted: ["approvals"] };
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(pending) }] };
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
