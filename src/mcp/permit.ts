import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { ZodError, z } from "zod";
import type { App, Session } from "../app.ts";
import { errorFields } from "../log.ts";
import { OperatorPermitInput, type PermitAnswer } from "../schema/approval.ts";
import { AppError } from "../schema/errors.ts";
import { isJsonObject, Name } from "../schema/values.ts";
import type { Caller } from "./caller.ts";
import { invalidArguments, refusal } from "./results.ts";
import { PERMIT } from "./tools.ts";

/** Well inside the 300 s without progress after which the CLI gives up. */
const PROGRESS_EVERY_MS = 20_000;
const PROTOCOL_WITH_RESUMPTION = "2025-11-25";

const ProgressToken = z.union([z.string(), z.number()]);
const SSE_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};
const encoder = new TextEncoder();

export type PermitCall = { id: RequestId; arguments: unknown; progressToken: string | number | undefined };

/** Reads a JSON-RPC message as a permit call, once its tool's name is known to be the permit's. */
export function permitCall(id: RequestId, params: Record<string, unknown>): PermitCall {
  const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {};
  return {
    id,
    arguments: params["arguments"] ?? {},
    progressToken: ProgressToken.safeParse(meta["progressToken"]).data,
  };
}

/**
 * The one MCP call that may wait for hours. Its answer is an event stream of our own, since the SDK's transport can
 * neither outlive its process nor hold ten thousand of them: headers and progress at once, progress while it waits.
 */
export function createPermits(app: App) {
  const open = new Set<() => void>();

  async function answer(request: Request, caller: Caller, call: PermitCall): Promise<Response> {
    try {
      const input = OperatorPermitInput.parse(call.arguments);
      const session = await sessionOf(request, caller, input.session_id);
      const ask = await app.approvals.ask(session, input);
      return stream(request, call, ask);
    } catch (cause) {
      return sse(reply(call.id, refused(cause)));
    }
  }

  function stream(request: Request, call: PermitCall, ask: Awaited<ReturnType<App["approvals"]["ask"]>>): Response {
    let end = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        let steps = 0;
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        const progress = () =>
          send(call.progressToken === undefined ? ": waiting\n\n" : progressEvent(call.progressToken, ++steps));
        const timer = setInterval(progress, PROGRESS_EVERY_MS);
        end = () => {
          if (!open.delete(end)) return;
          clearInterval(timer);
          request.signal.removeEventListener("abort", end);
          ask[Symbol.dispose]();
          controller.close();
        };
        open.add(end);
        request.signal.addEventListener("abort", end);
        send(firstEvent(request, `${ask.approvalId}~${JSON.stringify(call.id)}`, app.retryMs));
        progress();
        const finish = (result: object) => {
          if (open.has(end)) send(reply(call.id, result));
          end();
        };
        ask.answer().then(
          (decided) => finish(permitResult(decided)),
          (cause) => finish(refused(cause)),
        );
      },
      cancel: () => end(),
    });
    return new Response(body, { headers: SSE_HEADERS });
  }

  /** Every failure is a refusal: a child that can not be asked for is a child that may not. */
  function refused(cause: unknown): object {
    if (cause instanceof ZodError) return errorResult(invalidArguments(PERMIT, cause));
    if (cause instanceof AppError && cause.code !== "storage_unavailable") return errorResult(cause);
    app.log.error("an ask failed", errorFields(cause));
    const reason = cause instanceof AppError ? cause.message : "its log has the details.";
    return permitResult({
      behavior: "deny",
      message: `Plexus could not take this request: ${reason} The tool was not run.`,
    });
  }

  /** Whose ask it is comes from the token alone; only the operator, and callers without any token, may say it. */
  async function sessionOf(request: Request, caller: Caller, named: string | undefined): Promise<Session> {
    const { principal } = caller;
    if (principal.kind === "session") {
      const session = app.sessions.get(principal.sessionId);
      if (!session) throw new AppError("not_found", "This token's session is gone.");
      return session;
    }
    if (named !== undefined) return app.sessions.require(principal, named);
    if (!caller.anonymous)
      throw new AppError("invalid_arguments", "session_id: as the operator, say which session asks.");
    const fromUrl = new URL(request.url).searchParams.get("session_id");
    if (fromUrl !== null) return app.sessions.openByHand(principal, Name.parse(fromUrl));
    const client = Name.safeParse(request.headers.get("mcp-session-id"));
    return app.sessions.openByHand(principal, client.success ? `mcp-${client.data}`.slice(0, 100) : "by-hand");
  }

  return {
    answer,
    /** Lets go of every waiting call; the approvals stay as they are. */
    close() {
      for (const end of open) end();
    },
  };
}

function permitResult(answer: PermitAnswer): object {
  return { content: [{ type: "text", text: JSON.stringify(answer) }] };
}

/** Without structured content, on which the CLI would stumble instead of reading the message. */
function errorResult(error: AppError): object {
  const { content, isError } = refusal(error);
  return { content, isError };
}

/** Names the approval for a later resumption; older clients can't read an event without data. */
function firstEvent(request: Request, id: string, retryMs: number): string {
  const version = request.headers.get("mcp-protocol-version") ?? "";
  return version >= PROTOCOL_WITH_RESUMPTION ? `id: ${id}\nretry: ${retryMs}\ndata: \n\n` : ": waiting\n\n";
}

function progressEvent(progressToken: string | number, progress: number): string {
  return message({
    method: "notifications/progress",
    params: { progressToken, progress, message: "Waiting for a decision" },
  });
}

function reply(id: RequestId, result: object): string {
  return message({ id, result });
}

function message(fields: object): string {
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...fields })}\n\n`;
}

function sse(text: string): Response {
  return new Response(text, { headers: SSE_HEADERS });
}
