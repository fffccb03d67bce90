import { z } from "zod";
import type { App, Session } from "../app.ts";
import { OperatorPermitInput, type PermitAnswer } from "../contract/approvals/approval.ts";
import { parsedArguments } from "../contract/arguments/problems.ts";
import { AppError } from "../contract/refusals/errors.ts";
import { Name } from "../contract/values.ts";
import { errorFields } from "../log.ts";
import type { Caller } from "./caller.ts";
import { MAX_ID_CHARS, Token, type Waiting } from "./calls/event-id.ts";
import { type PermitCall, type PermitEventId, permitEventId } from "./permit-call.ts";
import { firstEvent, reply, SSE_HEADERS, sseMessage } from "./streams.ts";
import { PERMIT } from "./tools/declaration/names.ts";
import { refusal } from "./tools/declaration/results.ts";

/** The parts of the app that permits use. */
export type PermitApp = Pick<App, "approvals" | "log" | "progressEveryMs" | "retryMs" | "sessions">;
export type Permits = ReturnType<typeof createPermits>;
type WaitingRequest = Awaited<ReturnType<App["approvals"]["request"]>>;
/** A waiting permit: `tell` reports progress to its child, `end` closes its stream. */
type OpenPermit = { tell(): void; end(): void };
/** The URL may name the session if the token does not. */
const FromUrl = z.strictObject({ session_id: Name });

/**
 * The one MCP call that may wait for days. It answers with an event stream of our own, because the SDK's transport can
 * neither outlive its process nor hold ten thousand streams. Headers and progress go out at once, more progress
 * follows, and an id lets any later process find the approval again.
 */
export function createPermits(app: PermitApp) {
  const open = new Set<OpenPermit>();
  // One timer for all permits: a timer for each would be most of the cost of a waiting call.
  const progressTimer = setInterval(() => {
    for (const { tell } of open) tell();
  }, app.progressEveryMs);

  async function answer(request: Request, caller: Caller, call: PermitCall): Promise<Response> {
    try {
      if (!Token.safeParse(call.id).success)
        throw new AppError("invalid_arguments", `The id of a request has at most ${MAX_ID_CHARS} characters.`);
      const input = parsedArguments(OperatorPermitInput, call.arguments, PERMIT);
      const session = await sessionOf(request, caller, input.session_id);
      return stream(request, caller, call, await app.approvals.request(session, input));
    } catch (cause) {
      return new Response(reply(request, call.id, refused(cause)), { headers: SSE_HEADERS });
    }
  }

  /** The child lost its connection, perhaps in a restart of the server, and comes back for its answer. */
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

  /**
   * Uses a direct stream: with an ordinary one, a waiting call would keep several times as many objects. Bun calls
   * `cancel` when the child is gone, even before anything was sent.
   */
  function stream(request: Request, { held }: Caller, { id, progressToken }: Waiting, ask: WaitingRequest): Response {
    const over = Promise.withResolvers<void>();
    // Without the body: the input of an undecided request is bounded with the other undecided ones.
    const connection = held.stayOpen();
    let controller: ReadableStreamDirectController | undefined;
    let unsent = firstEvent(request, permitEventId({ ...ask, id, progressToken }), app.retryMs);
    let steps = 0;
    const send = (text: string) => {
      if (!controller) {
        unsent += text;
        return;
      }
      controller.write(text);
      void controller.flush();
    };
    const call: OpenPermit = {
      tell: () => send(progressToken === undefined ? ": waiting\n\n" : progress(progressToken, ++steps)),
      end() {
        if (!open.delete(call)) return;
        ask[Symbol.dispose]();
        connection[Symbol.dispose]();
        controller?.close();
        over.resolve();
      },
    };
    const finish = (result: object) => {
      if (open.has(call)) send(reply(request, id, result));
      call.end();
    };
    open.add(call);
    call.tell();
    ask.answer().then(
      (decided) => finish(permitResult(decided)),
      (cause) => finish(refused(cause)),
    );
    const body = new ReadableStream({
      type: "direct",
      pull(taken) {
        controller = taken;
        send(unsent);
        unsent = "";
        if (!open.has(call)) taken.close();
        return over.promise;
      },
      cancel: call.end,
    });
    return new Response(body, { headers: SSE_HEADERS });
  }

  /** Turns every failure into a refusal that the CLI can pass on. */
  function refused(cause: unknown): object {
    if (cause instanceof AppError && cause.code !== "storage_unavailable") return errorResult(cause);
    app.log.error("a request failed", errorFields(cause));
    const reason = cause instanceof AppError ? cause.message : "Its log has the details.";
    return permitResult({
      behavior: "deny",
      message: `Plexus could not take this request. ${reason} The tool was not run.`,
    });
  }

  /**
   * The token alone tells whose request it is. Only the operator, and callers without a token, may name the session.
   */
  async function sessionOf(request: Request, caller: Caller, named: string | undefined): Promise<Session> {
    const { principal } = caller;
    if (principal.kind === "session") {
      const session = await app.sessions.get(principal.sessionId);
      if (!session) throw new AppError("not_found", "This token's session is gone.");
      return session;
    }
    if (named !== undefined) return await app.sessions.require(principal, named);
    if (!caller.anonymous)
      throw new AppError(
        "invalid_arguments",
        `${PERMIT}: session_id is missing: as the operator, say which session asks.`,
      );
    const fromUrl = new URL(request.url).searchParams.get("session_id");
    if (fromUrl !== null) {
      const { session_id } = parsedArguments(FromUrl, { session_id: fromUrl }, PERMIT);
      return await app.sessions.openByHand(principal, session_id);
    }
    const client = Name.max(90).safeParse(request.headers.get("mcp-session-id"));
    return await app.sessions.openByHand(principal, client.success ? `mcp-${client.data}` : "by-hand");
  }

  return {
    answer,
    resume,
    /** Closes the streams of all waiting permits. The approvals stay pending, and the children come back for them. */
    close() {
      clearInterval(progressTimer);
      for (const { end } of open) end();
    },
  };
}

function permitResult(answer: PermitAnswer): object {
  return { content: [{ type: "text", text: JSON.stringify(answer) }] };
}

/** Without structured content: the CLI could not read the message beside it. */
function errorResult(error: AppError): object {
  const { content, isError } = refusal(error);
  return { content, isError };
}

function progress(progressToken: Token, step: number): string {
  const params = { progressToken, progress: step, message: "Waiting for a decision" };
  return sseMessage({ method: "notifications/progress", params });
}
