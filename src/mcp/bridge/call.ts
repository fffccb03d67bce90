import { AppError } from "../../contract/refusals/errors.ts";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { readCallEventId } from "../calls/event-id.ts";
import { PROTOCOL_VERSION } from "../revision.ts";
import { canonicalName, PERMIT } from "../tools/declaration/names.ts";
import { refusal, unknownOutcome } from "../tools/declaration/results.ts";
import { modernHeaders } from "./modern.ts";
import { type PostOutcome, post } from "./post.ts";
import { createCallProgress } from "./progress.ts";
import type { RpcLine } from "./rpc-lines.ts";
import type { createBridgeServer } from "./server.ts";
import type { createBridgeSession } from "./session.ts";
import { createSubscription } from "./subscription.ts";

/** How long a call that changes something waits for an absent server. Clients give up soon after. */
const KEPT_MS = 45_000;
/** The server sends something on a permit's stream every 20 s. */
const PERMIT_SILENCE_MS = 60_000;
/** How long a permit waits before it tries again after the server refused it because its siblings use too much. */
const BUSY_MS = 1_000;

/** From this revision on, the stream of an answer carries an id with which the client can resume it. */
const RESUMABLE_SINCE = "2025-11-25";

export type RpcRequest = Extract<RpcLine, { kind: "request" }>;
type Unauthorized = Extract<PostOutcome, { kind: "unauthorized" }>;

type BridgeCallNeed = {
  server: ReturnType<typeof createBridgeServer>;
  session: ReturnType<typeof createBridgeSession>;
  /** Tools that may be called twice, according to the server's list of tools. */
  repeatableTools: Set<string>;
  write(message: JsonObject): Promise<void>;
};

/**
 * Sends a request to the server and passes the answer back. While the server is away, a request that may be repeated
 * waits and is sent again. A permit, and a call that waits, resumes by the id that the server gave it, so no decision
 * is lost and nothing is done twice. For any other request that was sent without getting an answer, only the client can
 * find out whether it was done.
 */
export async function carryCall(
  { server, session, repeatableTools, write }: BridgeCallNeed,
  request: RpcRequest,
  cancelled: AbortSignal,
): Promise<Unauthorized | undefined> {
  const tool = request.method === "tools/call" ? canonicalName(String(request.params["name"])) : undefined;
  const isPermit = tool === PERMIT;
  const isRepeatable = tool === undefined || isPermit || repeatableTools.has(tool);
  const text = isPermit ? withToolUseId(request) : request.text;
  const modern = modernHeaders(request.message);
  const subscription = modern && createSubscription(request);
  using progress = createCallProgress(request.params, tool !== undefined, write);
  using kept = createDeadline(isRepeatable ? undefined : KEPT_MS);

  /** The id by which the server finds the call again. Set once the server has sent it. */
  let resumeId: string | undefined;
  const attempt = () => {
    const opening = request.method === "initialize" && !modern ? session.opening() : undefined;
    return post(server.fetchMcp, {
      text,
      resume: resumeId,
      headers: modern ?? (tool === undefined ? session.headers() : resumable(session.headers())),
      onEventId: (id) => {
        if (isPermit || readCallEventId(id)?.state) resumeId = id;
      },
      ...opening,
      signal: cancelled,
      awaits: request.id,
      silenceMs: isPermit ? PERMIT_SILENCE_MS : undefined,
      async onMessage(message) {
        server.works();
        await opening?.onMessage(message);
        if (message["id"] === request.id && "result" in message) learn(message["result"]);
        for (const told of subscription?.passed(message) ?? [progress.passed(message)])
          if (!cancelled.aborted) await write(told);
      },
    });
  };

  const learn = (result: unknown) => {
    if (!modern) session.remember(request.message);
    if (request.method === "tools/list") for (const name of repeatableNames(result)) repeatableTools.add(name);
  };

  for (;;) {
    const usedSession = session.id();
    let outcome = await attempt();
    if (outcome.kind === "answered" && subscription?.isCutShort()) outcome = { kind: "lost" };
    if (cancelled.aborted || outcome.kind === "answered") return undefined;
    if (resumeId !== undefined && isRepeatable && ["no_session", "refused"].includes(outcome.kind)) {
      // The server has forgotten the call, so make it again.
      resumeId = undefined;
      continue;
    }
    if ((isPermit || resumeId !== undefined) && outcome.kind === "busy") {
      await Bun.sleep(BUSY_MS);
      if (cancelled.aborted) return undefined;
      continue;
    }
    if (outcome.kind === "no_session") {
      const renewed = await session.renew(usedSession);
      if (renewed.kind === "answered") continue;
      outcome = renewed.kind === "lost" ? { kind: "unsent" } : renewed;
    }
    if (outcome.kind === "unauthorized" || outcome.kind === "refused" || outcome.kind === "busy") {
      const own = outcome.kind === "refused" ? outcome.error : undefined;
      const error = own ?? { code: -32000, message: outcome.message };
      await write({ jsonrpc: "2.0", id: request.id, error });
      return outcome.kind === "unauthorized" ? outcome : undefined;
    }
    if (outcome.kind === "lost" && !isRepeatable) {
      if (resumeId === undefined) {
        await write({ jsonrpc: "2.0", id: request.id, result: refusal(unknownOutcome(tool)) });
        return undefined;
      }
      kept.restart();
    }
    const isBack = await Promise.race([server.back().then(() => true), kept.passed()]);
    if (cancelled.aborted) return undefined;
    if (!isBack) {
      const reason = resumeId === undefined ? notSent(tool, server.url()) : unknownOutcome(tool);
      await write({ jsonrpc: "2.0", id: request.id, result: refusal(reason) });
      return undefined;
    }
  }
}

/** Adds a `tool_use_id` if the request has none: a request that is sent twice then counts as one. */
function withToolUseId({ message, params, text }: RpcRequest): string {
  const asked = isJsonObject(params["arguments"]) ? params["arguments"] : {};
  if (asked["tool_use_id"] !== undefined && asked["tool_use_id"] !== null) return text;
  const named = { ...asked, tool_use_id: `bridge-${crypto.randomUUID()}` };
  return JSON.stringify({ ...message, params: { ...params, arguments: named } });
}

/** The tools that change nothing, or change nothing more when called again. */
function repeatableNames(result: unknown): string[] {
  const tools = isJsonObject(result) && Array.isArray(result["tools"]) ? result["tools"] : [];
  return tools.flatMap((tool) => {
    const annotations = isJsonObject(tool) && isJsonObject(tool["annotations"]) ? tool["annotations"] : {};
    const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
    const isRepeatable = readOnlyHint === true || (destructiveHint === false && idempotentHint === true);
    return isJsonObject(tool) && isRepeatable ? [String(tool["name"])] : [];
  });
}

function notSent(tool: string | undefined, url: string): AppError {
  return new AppError(
    "unreachable",
    `No Plexus answers${url && ` at ${url}`}: ${tool} was not sent, and nothing was done. Start it with \`plexus serve\`, then repeat this.`,
  );
}

/**
 * The same headers with a revision that can resume answers. The bridge can do that, whatever revision the client
 * speaks.
 */
function resumable(headers: Record<string, string>): Record<string, string> {
  const version = headers[PROTOCOL_VERSION] ?? "";
  return version >= RESUMABLE_SINCE ? headers : { ...headers, [PROTOCOL_VERSION]: RESUMABLE_SINCE };
}

function createDeadline(ms: number | undefined) {
  let passing = Promise.withResolvers<false>();
  const start = () => (ms === undefined ? undefined : setTimeout(() => passing.resolve(false), ms));
  let timer = start();
  return {
    passed: () => passing.promise,
    restart() {
      clearTimeout(timer);
      passing = Promise.withResolvers();
      timer = start();
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
