import type { App } from "../../app.ts";
import { cancelTurn, chat } from "../../contract/routes/sessions.ts";
import { SESSION_ID, TURN_ID } from "../../contract/samples.ts";
import { refuseRevoked } from "../middleware/auth.ts";
import { type Served, serve } from "../serve.ts";
import { allowSilence } from "../streams/silence.ts";
import { sessionParams } from "./session-params.ts";

export type ChatApp = Pick<App, "sessions" | "sessionCommands">;

/** How much of a turn's text an answer holds; all of it is in the turn's events. */
const MAX_TEXT_CHARS = 100_000;

/** Work for a session, and its end; `closing` is the end of the server, which no caller waits out. */
export function chatRoutes({ sessions, sessionCommands }: ChatApp, closing: AbortSignal): Served[] {
  return [
    serve(chat, {
      tag: "Sessions",
      summary: "Gives a session work",
      params: sessionParams,
      details:
        "Without `wait_secs` it answers at once. With it, at the turn's end, or when a decision is needed. " +
        "While `--max-running` children run, the turn is queued, and starts by itself when its `place` in the queue comes.",
      body: { prompt: "Make hello.txt", wait_secs: 60 },
      answers: {
        200: {
          says: "How the turn stands, after `wait_secs` at the latest.",
          example: {
            type: "ok",
            session_id: SESSION_ID,
            turn_id: TURN_ID,
            status: "complete",
            text: "hello.txt is there.",
            error: null,
            pending_approvals: [],
            usage: { input_tokens: 1200, output_tokens: 340, cost_usd: 0.021, num_turns: 3 },
          },
        },
        202: {
          says: "The turn runs, or is queued.",
          example: { type: "started", session_id: SESSION_ID, turn_id: TURN_ID },
        },
      },
      errors: ["turn_running", "limit_reached", "claude_unavailable", "unreachable"],
    }).by(async ({ principal, caller, params, body, c }) => {
      const session = await sessions.require(principal, params.key);
      const { wait_secs, ...work } = body;
      if (wait_secs === undefined) return { status: 202, answer: await sessionCommands.start(session, work) };
      allowSilence(c);
      const signal = AbortSignal.any([c.req.raw.signal, closing, caller.revoked]);
      const wait = { waitMs: wait_secs * 1000, signal, maxChars: MAX_TEXT_CHARS };
      const result = await sessionCommands.chat(session, work, wait);
      const { turn, status, text, error, pending, usage, place } = result;
      refuseRevoked(caller);
      return {
        status: 200,
        answer: {
          type: "ok",
          session_id: session.id,
          turn_id: turn.id,
          status,
          ...(place !== undefined && { place }),
          text,
          error,
          pending_approvals: pending.approvals,
          usage,
        },
      };
    }),
    serve(cancelTurn, {
      tag: "Sessions",
      summary: "Ends the turn that runs or is queued",
      params: sessionParams,
      answer: {
        says: "Every process of the child is gone but those named; or there was no turn to end.",
        example: { type: "cancelled", session_id: SESSION_ID },
      },
    }).by(async ({ principal, params }) => sessionCommands.cancel(await sessions.require(principal, params.key))),
  ];
}
