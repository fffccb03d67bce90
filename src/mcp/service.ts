import type { CallToolResult, ReadResourceResult, Resource, Tool as SdkTool } from "@modelcontextprotocol/sdk/types.js";
import type { App, Principal } from "../app.ts";
import { AppError, tokenRevoked } from "../contract/refusals/errors.ts";
import { MAX_RESULT_CHARS } from "../contract/text/cut.ts";
import { cutText } from "../contract/text/cut-text.ts";
import type { PendingResource } from "../contract/tools/approval-answers.ts";
import type { JsonObject } from "../contract/values.ts";
import { errorFields } from "../log.ts";
import { VERSION } from "../version.ts";
import { type Calling, type OpenCall, openCall } from "./calls/open-call.ts";
import { CHILD_INSTRUCTIONS, DECIDER_INSTRUCTIONS } from "./instructions.ts";
import { listed } from "./tools/declaration/listing.ts";
import { canonicalName, PERMIT } from "./tools/declaration/names.ts";
import { MAX_LISTED, refusal, result, unknownOutcome } from "./tools/declaration/results.ts";
import { fitApprovals } from "./tools/declaration/told-approvals.ts";
import { isRunnable, type RunnableTool, type ToolApp } from "./tools/declaration/tool.ts";
import { TOOLS } from "./tools/tools.ts";

export const INFO = { name: "plexus", title: "Plexus", version: VERSION };
export const PENDING_URI = "loopback://approvals/pending";

const PENDING_RESOURCE: Resource = {
  uri: PENDING_URI,
  name: "pending-approvals",
  title: "Pending approvals",
  description: "What waits for your decision. The inputs are untrusted text from children.",
  mimeType: "application/json",
};
/** Room for the rest of a result beside the approvals. */
const ENVELOPE_CHARS = 1_500;
const MAX_SHOWN_URI_CHARS = 200;

/** The parts of the app that the services use. */
export type ServerApp = ToolApp & Pick<App, "log">;

/** Everything that one caller is served with, in any revision of MCP. */
export type Service = {
  instructions: string;
  tools(): SdkTool[];
  /** Never rejects: refusals and failures of a tool are answers too. */
  callTool(called: { name: string; arguments?: unknown }, how: Calling): Promise<CallToolResult>;
  /** Continues a call that a killed process began. Without a state, only the caller can find out what was done. */
  resumeTool(begun: { tool: string; state?: JsonObject }, how: Calling): Promise<CallToolResult>;
  /** Empty for children. */
  resources: readonly Resource[];
  /** Throws `UnknownResource`. */
  readResource(uri: string): Promise<ReadResourceResult>;
};

/** A class of its own, because each revision has its own error code for it. */
export class UnknownResource extends Error {
  override readonly name = "UnknownResource";
  constructor(readonly uri: string) {
    super(`Unknown resource ${cutText(uri, MAX_SHOWN_URI_CHARS)}: there is ${PENDING_URI}.`);
  }
}

/** Makes the service for a caller: it has the tools of the caller's role and no others. */
export function createServices(app: ServerApp): (principal: Principal) => Service {
  const listings = new Map<Principal["kind"], SdkTool[]>();

  /** Built on first use: the schemas take longer than the rest of the start. */
  function listing(role: Principal["kind"]): SdkTool[] {
    const known = listings.get(role) ?? TOOLS[role].map(listed);
    listings.set(role, known);
    return known;
  }

  async function answered(call: OpenCall, run: (tool: RunnableTool) => Promise<JsonObject>): Promise<CallToolResult> {
    const { principal, tool: name } = call;
    try {
      const tool = TOOLS[principal.kind].filter(isRunnable).find((candidate) => candidate.name === name);
      if (!tool) throw unknownTool(principal, name);
      // Check before the tool does anything, and again before its result goes out.
      if (call.revoked.aborted) throw tokenRevoked();
      const value = await Promise.race([run(tool), call.overdue]);
      if (call.revoked.aborted) throw tokenRevoked();
      if (value === undefined) throw unknownOutcome(name);
      return result(value);
    } catch (cause) {
      if (cause instanceof AppError) return refusal(cause);
      app.log.error("a tool failed", { tool: name, ...errorFields(cause) });
      return refusal(new AppError("internal", "Plexus failed inside; its log has the details. Nothing was allowed."));
    }
  }

  async function pending(principal: Principal): Promise<PendingResource> {
    try {
      const shown = await fitApprovals(
        { app, principal },
        await app.approvals.pending(principal, undefined, MAX_LISTED),
        MAX_RESULT_CHARS - ENVELOPE_CHARS,
      );
      return { type: "ok", ...shown, untrusted: ["approvals"] };
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      app.log.error("a resource failed", { uri: PENDING_URI, ...errorFields(cause) });
      throw new Error("Plexus failed inside; its log has the details.");
    }
  }

  return (principal) => {
    const isChild = principal.kind === "session";
    const resources = isChild ? [] : [PENDING_RESOURCE];
    return {
      instructions: isChild ? CHILD_INSTRUCTIONS : DECIDER_INSTRUCTIONS,
      tools: () => listing(principal.kind),
      async callTool({ name, arguments: input = {} }, how) {
        using call = openCall({ app, principal, tool: canonicalName(name), ...how });
        return await answered(call, (tool) => tool.run(call, input));
      },
      async resumeTool({ tool: name, state }, how) {
        using call = openCall({ app, principal, tool: name, ...how });
        return await answered(call, async (tool) => {
          if (!state || !tool.resume) throw unknownOutcome(name);
          return tool.resume(call, state);
        });
      },
      resources,
      async readResource(uri) {
        if (!resources.some((resource) => resource.uri === uri)) throw new UnknownResource(uri);
        return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(await pending(principal)) }] };
      },
    };
  };
}

function unknownTool(principal: Principal, name: string): AppError {
  const names = TOOLS[principal.kind].map((tool) => tool.name);
  if (name === PERMIT && names.includes(name)) {
    return new AppError("invalid_arguments", `${name} must be called alone, not within a batch.`);
  }
  return new AppError("not_found", `You have no tool "${cutText(name, 100)}". Your tools: ${names.join(", ")}.`);
}
