import type { Principal } from "../app.ts";
import { Token, type Waiting } from "./calls/event-id.ts";
import { toolCallIn } from "./calls/tool-call.ts";
import { PERMIT } from "./tools/declaration/names.ts";
import { TOOLS } from "./tools/tools.ts";

export type PermitCall = Waiting & { arguments: unknown };
export type PermitEventId = Waiting & { approvalId: string; asker: string | null };

/** The permit that a message requests; `undefined` for other messages and for senders without that tool. */
export function permitCallIn(message: unknown, role: Principal["kind"]): PermitCall | undefined {
  const call = toolCallIn(message);
  return call?.tool === PERMIT && TOOLS[role].some((tool) => tool.name === PERMIT) ? call : undefined;
}

/** `<approval>~.<asker>~<JSON-RPC id>`, and the progress token if it differs from the id. */
export function permitEventId({ approvalId, asker, id, progressToken }: PermitEventId): string {
  const parts = progressToken === undefined || progressToken === id ? [id] : [id, progressToken];
  const request = asker === null ? [approvalId] : [approvalId, `.${asker}`];
  return [...request, ...parts.map((part) => encodeURIComponent(JSON.stringify(part)))].join("~");
}

/** The permit that a client comes back for, from the id of the last event that it received. */
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
