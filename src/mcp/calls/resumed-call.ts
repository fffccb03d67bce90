import type { App } from "../../app.ts";
import type { Caller } from "../caller.ts";
import type { Service } from "../service.ts";
import { idEvent, reply, SSE_HEADERS, sseMessage } from "../streams.ts";
import { Connection } from "./connection.ts";
import { type BegunCall, callEventId } from "./event-id.ts";
import type { OpenAnswers } from "./open-answers.ts";

type ResumedNeed = {
  app: Pick<App, "log" | "retryMs" | "tokens">;
  service: Service;
  answers: OpenAnswers;
};
type Resumed = { caller: Caller; begun: BegunCall; client: string | undefined };
const encoder = new TextEncoder();

/**
 * Answers a call that another process began, on the stream of the returning client. Written without the SDK, whose
 * transport only knows calls that it began itself.
 */
export async function resumeCall(
  { app, service, answers }: ResumedNeed,
  request: Request,
  { caller, begun, client }: Resumed,
): Promise<Response> {
  const { id, progressToken } = begun;
  app.log.debug("call resumed", { tool: begun.tool });
  const revoked = await app.tokens.revocation(caller);
  const gone = new AbortController();
  const ending = new DisposableStack();
  ending.use(caller.held.stayOpen());
  ending.defer(answers.begin());
  const leave = () => gone.abort();
  request.signal.addEventListener("abort", leave);
  ending.defer(() => request.signal.removeEventListener("abort", leave));
  if (request.signal.aborted) leave();

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const onEventId = (eventId: string) => send(idEvent(eventId, app.retryMs));
      onEventId(callEventId(begun) ?? "");
      const connection = new Connection({ gone: gone.signal, revoked, stopping: caller.stopping }, onEventId);
      const tell = async (notification: object) => send(sseMessage(notification));
      // The original request is gone, so the client can cancel only by closing this stream.
      const calling = { id, progressToken, client, connection, cancelled: gone.signal, send: tell };
      void service.resumeTool(begun, calling).then((result) => {
        send(reply(request, id, result));
        if (!gone.signal.aborted) controller.close();
        ending.dispose();
      });
    },
    cancel: leave,
  });
  return new Response(body, { headers: SSE_HEADERS });
}
