import { AppError } from "../../contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { canonicalName, PERMIT } from "../tools/names.ts";
import { refusal } from "../tools/results.ts";
import { type PostOutcome, post } from "./post.ts";
import { createCallProgress } from "./progress.ts";
import type { RpcLine } from "./rpc-lines.ts";
import type { createBridgeServer } from "./server.ts";
import type { createBridgeSession } from "./session.ts";

/** How long a call that changes something is kept for a server that is away; clients give up soon after. */
const KEPT_MS = 45_000;
/** A permit's stream has something to say every 20 s. */
const PERMIT_SILENCE_MS = 60_000;
/** How long a permit waits before it asks again a server that has too much of its siblings. */
const BUSY_MS = 1_000;

/** From this revision on, a stream begins with the id to take it up again by. */
const RESUMABLE = { "mcp-protocol-version": "2025-11-25" };

export type RpcRequest = Extract<RpcLine, { kind: "request" }>;
type Unauthorized = Extract<PostOutcome, { kind: "unauthorized" }>;

type BridgeCallNeed = {
  server: ReturnType<typeof createBridgeServer>;
  session: ReturnType<typeof createBridgeSession>;
  /** Tools that change nothing, as far as the server has listed them. */
  readOnlyTools: Set<string>;
  write(message: JsonObject): Promise<void>;
};

/**
 * Brings a request to the server, and its answer back. What may be asked twice waits for as long as the server is
 * away, and is then asked again; a permit is taken up by the id that the server gave it, so that no decision on it is
 * lost. Of anything else that was sent and not answered, only the client can find out whether it was done.
 */
export async function carryCall(
  { server, session, readOnlyTools, write }: BridgeCallNeed,
  request: RpcRequest,
  cancelled: AbortSignal,
): Promise<Unauthorized | undefined> {
  const tool = request.method === "tools/call" ? canonicalName(String(request.params["name"])) : undefined;
  const isPermit = tool === PERMIT;
  const isRepeatable = tool === undefined || isPermit || readOnlyTools.has(tool);
  const text = isPermit ? withToolUseId(request) : request.text;
  using progress = createCallProgress(request.params, isPermit, write);
  using kept = createDeadline(isRepeatable ? undefined : KEPT_MS);

  /** By which the server finds the ask again, once it has said so: its decision may have been made meanwhile. */
  let askId: string | undefined;
  const attempt = () => {
    const opening = request.method === "initialize" ? session.opening() : undefined;
    return post(server.fetchMcp, {
      text,
      resume: askId,
      headers: { ...session.headers(), ...(isPermit && RESUMABLE) },
      onEventId: (id) => {
        if (isPermit) askId = id;
      },
      ...opening,
      signal: cancelled,
      awaits: request.id,
      silenceMs: isPermit ? PERMIT_SILENCE_MS : undefined,
      async onMessage(message) {
        server.works();
        await opening?.onMessage(message);
        if (message["id"] === request.id && "result" in message) learn(message["result"]);
        if (!cancelled.aborted) await write(progress.passed(message));
      },
    });
  };

  const learn = (result: unknown) => {
    session.remember(request.message);
    if (request.method === "tools/list") for (const name of readOnlyNames(result)) readOnlyTools.add(name);
  };

  for (;;) {
    const usedSession = session.id();
    let outcome = await attempt();
    if (cancelled.aborted || outcome.kind === "answered") return undefined;
    if (askId !== undefined && ["no_session", "refused"].includes(outcome.kind)) {
      // The server has forgotten the ask: it is asked anew.
      askId = undefined;
      continue;
    }
    if (isPermit && outcome.kind === "busy") {
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
      await write({ jsonrpc: "2.0", id: request.id, error: { code: -32000, message: outcome.message } });
      return outcome.kind === "unauthorized" ? outcome : undefined;
    }
    if (outcome.kind === "lost" && !isRepeatable) {
      await write({ jsonrpc: "2.0", id: request.id, result: refusal(unknownOutcome(tool)) });
      return undefined;
    }
    const isBack = await Promise.race([server.back().then(() => true), kept.passed]);
    if (cancelled.aborted) return undefined;
    if (!isBack) {
      await write({ jsonrpc: "2.0", id: request.id, result: refusal(notSent(tool, server.url())) });
      return undefined;
    }
  }
}

/** Without one, two equal asks are two asks; with one of ours, an ask that is sent again stays the same. */
function withToolUseId({ message, params, text }: RpcRequest): string {
  const asked = isJsonObject(params["arguments"]) ? params["arguments"] : {};
  if (asked["tool_use_id"] !== undefined && asked["tool_use_id"] !== null) return text;
  const named = { ...asked, tool_use_id: `bridge-${crypto.randomUUID()}` };
  return JSON.stringify({ ...message, params: { ...params, arguments: named } });
}

function readOnlyNames(result: unknown): string[] {
  const tools = isJsonObject(result) && Array.isArray(result["tools"]) ? result["tools"] : [];
  return tools.flatMap((tool) => {
    const annotations = isJsonObject(tool) && isJsonObject(tool["annotations"]) ? tool["annotations"] : {};
    return isJsonObject(tool) && annotations["readOnlyHint"] === true ? [String(tool["name"])] : [];
  });
}

function unknownOutcome(tool: string | undefined): AppError {
  return new AppError(
    "outcome_unknown",
    `Plexus was gone before it answered: whether ${tool} was done is not known. ` +
      "Look before you repeat it: loopback_pending and loopback_get tell of asks, claudecode_list and claudecode_get of sessions.",
  );
}

function notSent(tool: string | undefined, url: string): AppError {
  return new AppError(
    "unreachable",
    `No Plexus answers${url && ` at ${url}`}: ${tool} was not sent, and nothing was done. Start it with \`plexus serve\`, then repeat this.`,
  );
}

function createDeadline(ms: number | undefined): Disposable & { passed: Promise<false> } {
  const { promise: passed, resolve } = Promise.withResolvers<false>();
  const timer = ms === undefined ? undefined : setTimeout(() => resolve(false), ms);
  return { passed, [Symbol.dispose]: () => clearTimeout(timer) };
}
