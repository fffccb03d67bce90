import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { ZodError } from "zod";
import type { App, Session } from "../app.ts";
import { OperatorPermitInput, type PermitAnswer } from "../contract/approvals/approval.ts";
import { AppError } from "../contract/errors.ts";
import { Name } from "../contract/values.ts";
import { errorFields } from "../log.ts";
import type { Caller } from "./caller.ts";
import {
  MAX_ID_CHARS,
  type PermitCall,
  type PermitEventId,
  permitEventId,
  Token,
  type Waiting,
} from "./permit-call.ts";
import { firstEvent, SSE_HEADERS, sseMessage } from "./streams.ts";
import { PERMIT } from "./tools/names.ts";
import { invalidArguments, refusal } from "./tools/results.ts";

/** Well inside the 300 s without progress after which the CLI gives up. */
const PROGRESS_EVERY_MS = 20_000;

/** What permits use of the app. */
export type PermitApp = Pick<App, "approvals" | "log" | "retryMs" | "sessions">;
type WaitingRequest = Awaited<ReturnType<App["approvals"]["request"]>>;
const encoder = new TextEncoder();

/**
 * The one MCP call that may wait for hours. Its answer is an event stream of our own, since the SDK's transport can
 * neither outlive its process nor hold ten thousand of them: headers and progress at once, progress while it waits,
 * and an id by which any later process of ours finds the approval again.
 */
export function createPermits(app: PermitApp) {
  const open = new Set<() => void>();

  async function answer(request: Request, caller: Caller, call: PermitCall): Promise<Response> {
    try {
      if (!Token.safeParse(call.id).success)
        throw new AppError("invalid_arguments", `The id of a request has at most ${MAX_ID_CHARS} characters.`);
      const input = OperatorPermitInput.parse(call.arguments);
      const session = await sessionOf(request, caller, input.session_id);
      return stream(request, caller, call, await app.approvals.request(session, input));
    } catch (cause) {
      return new Response(reply(call.id, refused(cause)), { headers: SSE_HEADERS });
    }
  }

  /** The child lost its connection, perhaps because we were restarted, and comes back for its answer. */
  async function resume(request: Request, caller: Caller, resumed: PermitEventId): Promise<Response> {
    const ask = await app.approvals.resume(caller.principal, resumed);
    if (ask) {
      app.log.debug("request resumed", { approval_id: ask.approvalId });
      return stream(request, caller, resumed, ask);
    }
    return Response.json(
      { error: { code: "not_found", message: "There is no such request of yours." } },
      { status: 404 },
    );
  }

  function stream(request: Request, { held }: Caller, { id, progressToken }: Waiting, ask: WaitingRequest): Response {
    let end = () => {};
    // Without its body: what an ask holds in memory is bounded with the other undecided ones.
    const connection = held.stayOpen();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        let steps = 0;
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        const tell = () => send(progressToken === undefined ? ": waiting\n\n" : progress(progressToken, ++steps));
        const timer = setInterval(tell, PROGRESS_EVERY_MS);
        end = () => {
          if (!open.delete(end)) return;
          clearInterval(timer);
          request.signal.removeEventListener("abort", end);
          ask[Symbol.dispose]();
          connection[Symbol.dispose]();
          controller.close();
        };
        const finish = (result: object) => {
          if (open.has(end)) send(reply(id, result));
          end();
        };
        open.add(end);
        request.signal.addEventListener("abort", end);
        send(firstEvent(request, permitEventId({ ...ask, id, progressToken }), app.retryMs));
        tell();
        ask.answer().then(
          (decided) => finish(permitResult(decided)),
          (cause) => finish(refused(cause)),
        );
        // It may have gone before anybody listened for that.
        if (request.signal.aborted) end();
      },
      cancel: () => end(),
    });
    return new Response(body, { headers: SSE_HEADERS });
  }

  /** Every failure is a refusal, told in a form that the CLI can pass on. */
  function refused(cause: unknown): object {
    if (cause instanceof ZodError) return errorResult(invalidArguments(PERMIT, cause));
    if (cause instanceof AppError && cause.code !== "storage_unavailable") return errorResult(cause);
    app.log.error("a request failed", errorFields(cause));
    const reason = cause instanceof AppError ? cause.message : "Its log has the details.";
    return permitResult({
      behavior: "deny",
      message: `Plexus could not take this request. ${reason} The tool was not run.`,
    });
  }

  /** Whose ask it is comes from the token alone; only the operator, and callers without any token, may say it. */
  async function sessionOf(request: Request, caller: Caller, named: string | undefined): Promise<Session> {
    const { principal } = caller;
    if (principal.kind === "session") {
      const session = await app.sessions.get(principal.sessionId);
      if (!session) throw new AppError("not_found", "This token's session is gone.");
      return session;
    }
    if (named !== undefined) return await app.sessions.require(principal, named);
    if (!caller.anonymous)
      throw new AppError("invalid_arguments", "session_id: as the operator, say which session asks.");
    const fromUrl = new URL(request.url).searchParams.get("session_id");
    if (fromUrl !== null) return await app.sessions.openByHand(principal, Name.parse(fromUrl));
    const client = Name.max(90).safeParse(request.headers.get("mcp-session-id"));
    return await app.sessions.openByHand(principal, client.success ? `mcp-${client.data}` : "by-hand");
  }

  return {
    answer,
    resume,
    /** Lets go of every waiting call; the approvals stay as they are, and the children come back for them. */
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

function progress(progressToken: Token, step: number): string {
  const params = { progressToken, progress: step, message: "Waiting for a decision" };
  return sseMessage({ method: "notifications/progress", params });
}

function reply(id: RequestId, result: object): string {
  return sseMessage({ id, result });
}
