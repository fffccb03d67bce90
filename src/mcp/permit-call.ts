import { isJSONRPCRequest, type RequestId } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Principal } from "../app.ts";
import { isJsonObject } from "../contract/values.ts";
import { canonicalName, PERMIT } from "./tools/names.ts";
import { TOOLS } from "./tools/tools.ts";

/** A call that waits keeps its id and its token in memory, beside what is bounded of its request. */
export const MAX_ID_CHARS = 2_000;
/** An id or a progress token that is short enough to be kept. */
export const Token = z.union([z.string().max(MAX_ID_CHARS), z.number()]);
export type Token = z.infer<typeof Token>;

/** Where an answer goes: the JSON-RPC request that waits for it, and the token that its progress is told with. */
export type Waiting = { id: RequestId; progressToken: Token | undefined };
export type PermitCall = Waiting & { arguments: unknown };
export type PermitEventId = Waiting & { approvalId: string; asker: string | null };

/** The permit that a message asks for, if it is one and its sender has that tool. */
export function permitCallIn(message: unknown, role: Principal["kind"]): PermitCall | undefined {
  if (!isJSONRPCRequest(message) || message.method !== "tools/call" || !message.params) return undefined;
  const { name, arguments: given, _meta: meta }: Record<string, unknown> = message.params;
  if (typeof name !== "string" || canonicalName(name) !== PERMIT) return undefined;
  if (!TOOLS[role].some((tool) => tool.name === PERMIT)) return undefined;
  const progressToken = isJsonObject(meta) ? Token.safeParse(meta["progressToken"]).data : undefined;
  return { id: message.id, arguments: given ?? {}, progressToken };
}

/** `<approval>~.<asker>~<JSON-RPC id>`, and the progress token where that is another. */
export function permitEventId({ approvalId, asker, id, progressToken }: PermitEventId): string {
  const parts = progressToken === undefined || progressToken === id ? [id] : [id, progressToken];
  const request = asker === null ? [approvalId] : [approvalId, `.${asker}`];
  return [...request, ...parts.map((part) => encodeURIComponent(JSON.stringify(part)))].join("~");
}

/** Which permit a connection comes back for, by the id of the last event that it has seen. */
export function readPermitEventId(text: string | null): PermitEventId | undefined {
  const [approvalId, ...parts] = text?.split("~") ?? [];
  const asker = parts[0]?.startsWith(".") ? (parts.shift() ?? "").slice(1) : null;
  if (!approvalId || parts.length === 0) return undefined;
  try {
    const [id, progressToken = id] = parts.map((part) => Token.parse(JSON.parse(decodeURIComponent(part))));
    return id === undefined ? undefined : { approvalId, asker, id, progressToken };
  } catch {
    return undefined;
  }
}
