import type { ProgressNotification } from "@modelcontextprotocol/sdk/types.js";
import type { ToolCall } from "../tools/declaration/tool.ts";
import type { Connection } from "./connection.ts";
import { callEventId, type Waiting } from "./event-id.ts";

/** How long a stopping server waits for calls that do more than wait, such as ending a child's processes. */
const FINISHED_WITHIN_MS = 2_000;
const WAITING = "Waiting for something to happen";

/** What a call knows about its request, in any revision of MCP. */
export type Calling = Pick<ToolCall, "client"> &
  Waiting & {
    connection: Connection;
    /** Fires when the client cancels the call, or its session ends. */
    cancelled: AbortSignal;
    send(notification: ProgressNotification): Promise<void>;
  };

type Opening = Calling & Pick<ToolCall, "app" | "principal"> & { tool: string };

export type OpenCall = ToolCall &
  Disposable & {
    tool: string;
    /** Fires when the caller's token is revoked: the call then answers with that alone. */
    revoked: AbortSignal;
    /** Resolves when a stopping server has waited long enough for this call. */
    overdue: Promise<undefined>;
  };

/** The call as its tool sees it until it is answered. */
export function openCall(opening: Opening): OpenCall {
  const { app, principal, client, tool, id, progressToken, connection, cancelled, send } = opening;
  const { stopping } = connection;
  const overdue = Promise.withResolvers<undefined>();
  const timers = new DisposableStack();
  let told = 0;
  let isWaiting = false;

  const progress: ToolCall["progress"] = (count, message) => {
    if (progressToken === undefined || timers.disposed) return;
    told = Math.max(count, told + 1);
    const params = { progressToken, progress: told, message };
    // A client that is gone needs no progress.
    void send({ method: "notifications/progress", params }).catch(() => {});
  };
  const onStop = () => {
    // A call that waits answers by itself, however many others do too.
    if (isWaiting) return;
    const timer = setTimeout(() => overdue.resolve(undefined), FINISHED_WITHIN_MS);
    timers.adopt(timer, clearTimeout);
  };
  stopping.addEventListener("abort", onStop);
  timers.defer(() => stopping.removeEventListener("abort", onStop));
  if (stopping.aborted) onStop();

  return {
    app,
    principal,
    client,
    tool,
    signal: AbortSignal.any([connection.gone, connection.revoked, cancelled]),
    revoked: connection.revoked,
    stopping,
    overdue: overdue.promise,
    progress,
    waits(state) {
      const eventId = state && callEventId({ tool, id, progressToken, state });
      if (eventId) connection.onEventId(eventId);
      if (isWaiting) return;
      isWaiting = true;
      const tell = () => progress(told + 1, WAITING);
      tell();
      timers.adopt(setInterval(tell, app.progressEveryMs), clearInterval);
    },
    [Symbol.dispose]: () => timers.dispose(),
  };
}
