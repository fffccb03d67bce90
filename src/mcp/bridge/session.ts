import { z } from "zod";
import type { JsonObject } from "../../contract/values.ts";
import { SETUP_METHODS, setupAfter } from "../clients/setup-messages.ts";
import { PROTOCOL_VERSION } from "../revision.ts";
import { type FetchMcp, type PostOutcome, post, SESSION_ID } from "./post.ts";
import { RpcId } from "./rpc-lines.ts";

const INITIALIZED = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
const Initialized = z.object({ result: z.object({ protocolVersion: z.string() }) });

/** The client's MCP session. The client's setup outlives any one server. */
export function createBridgeSession(fetchMcp: FetchMcp, over: AbortSignal) {
  let id: string | undefined;
  let version: string | undefined;
  let setup: JsonObject[] = [];
  let renewing: Promise<PostOutcome> | undefined;

  function headers(): Record<string, string> {
    return { ...(id && { [SESSION_ID]: id }), ...(version && { [PROTOCOL_VERSION]: version }) };
  }

  /** Starts without a session id, whatever was there before. */
  function opening() {
    return {
      headers: {},
      onHeaders: (received: Headers) => {
        id = received.get(SESSION_ID) ?? undefined;
      },
      onMessage: async (message: JsonObject) => {
        version = Initialized.safeParse(message).data?.result.protocolVersion ?? version;
      },
    };
  }

  /** Sends the client's setup messages again, without passing the answers to the client. */
  async function replay(): Promise<PostOutcome> {
    const [initialize, ...rest] = setup;
    if (!initialize) return { kind: "refused", message: "There is no MCP session: initialize first." };
    const opened = await send(initialize, opening());
    if (opened.kind !== "answered") return opened;
    await post(fetchMcp, { text: INITIALIZED, headers: headers(), signal: over });
    for (const message of rest) await send(message, { headers: headers() });
    return opened;
  }

  function send(message: JsonObject, more: ReturnType<typeof opening> | Pick<ReturnType<typeof opening>, "headers">) {
    const awaits = RpcId.safeParse(message["id"]).data;
    return post(fetchMcp, { text: JSON.stringify(message), awaits, signal: over, ...more });
  }

  return {
    headers,
    opening,
    id: () => id,
    /** The revision that the handshake agreed on. */
    revision: () => version,
    /** Keeps a message that changes how the server serves this client. */
    remember(message: JsonObject): void {
      if (!SETUP_METHODS.includes(String(message["method"]))) return;
      setup = setupAfter(message["method"] === "initialize" ? [] : setup, message);
    },
    /** Initializes again if the server has forgotten this session. Concurrent callers share one renewal. */
    async renew(forgotten: string | undefined): Promise<PostOutcome> {
      if (forgotten !== id) return { kind: "answered" };
      renewing ??= replay().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
  };
}
