import type { Context } from "hono";
import type { App, Session } from "../../../app.ts";
import type { AnswerOf } from "../../../contract/routes/declaration/route.ts";
import { cancelTurn, chat, run } from "../../../contract/routes/sessions.ts";
import { SESSION_ID, TURN_ID } from "../../../contract/samples.ts";
import type { Opened } from "../../../contract/sessions/answers.ts";
import { type Caller, type Env, refuseRevoked } from "../../middleware/auth.ts";
import { type Served, serve } from "../../serve.ts";
import { allowSilence } from "../../streams/silence.ts";
import { sessionParams } from "./session-params.ts";

export type ChatApp = Pick<App, "sessions" | "sessionCommands" | "approvalViews">;

/** The limit on the child's last message in an answer; the turn's events have all of it. */
const MAX_TEXT_CHARS = 100_000;

type TurnStarted = Extract<AnswerOf<typeof chat>, { type: "started" | "queued" }>;
type TurnAnswer = Extract<AnswerOf<typeof chat>, { type: "ok" }>;
type Asked = { prompt: string; ephemeral?: boolean | undefined; wait_secs?: number | undefined };

const STANDS: { says: string; example: TurnAnswer } = {
  says: "How the turn stands, after `wait_secs` at the latest; `text` is the child's last message.",
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
};
const BEGUN: { says: string; example: TurnStarted } = {
  says: "The turn runs, or is queued.",
  example: { type: "started", session_id: SESSION_ID, turn_id: TURN_ID },
};

/** Starts and ends a session's turns; `closing` fires when the server stops, which ends every wait. */
export function chatRoutes({ sessions, sessionCommands, approvalViews }: ChatApp, closing: AbortSignal): Served[] {
  /** Starts a turn and answers at once; with `wait_secs`, it waits and answers with the turn's state. */
  async function work(
    session: Session,
    { wait_secs, ...asked }: Asked,
    { caller, c, told = {} }: { caller: Caller; c: Context<Env>; told?: Opened },
  ) {
    if (wait_secs === undefined)
      return { status: 202, answer: { ...(await sessionCommands.start(session, asked)), ...told } } as const;
    allowSilence(c);
    const signal = AbortSignal.any([c.req.raw.signal, closing, caller.revoked]);
    const wait = { waitMs: wait_secs * 1000, signal, maxChars: MAX_TEXT_CHARS };
    const { turn, status, text, error, pending, usage, place } = await sessionCommands.chat(session, asked, wait);
    refuseRevoked(caller);
    const standing: TurnAnswer = {
      type: "ok",
      session_id: session.id,
      turn_id: turn.id,
      status,
      ...(place !== undefined && { place }),
      text,
      error,
      pending_approvals: await approvalViews.showEach(pending.approvals, caller.principal),
      usage,
      ...told,
    };
    return { status: 200, answer: standing } as const;
  }

  return [
    serve(run, {
      tag: "Sessions",
      summary: "Gives work to the session of this name, which is made if there is none",
      details:
        "An existing session is used as it is: settings that are left out don't matter, and others than it has are refused. " +
        "It answers like `POST /api/v1/sessions/KEY/chat`, with `created` where it was made, and then its `working_dir` unless you gave one.",
      body: { name: "worker", prompt: "Make hello.txt", working_dir: "/srv/project", wait_secs: 60 },
      answers: { 200: STANDS, 202: BEGUN },
      errors: ["config_differs", "name_taken", "turn_running", "limit_reached", "claude_unavailable", "unreachable"],
    }).by(async ({ principal, caller, body, c }) => {
      const { prompt, ephemeral, wait_secs, ...asked } = body;
      const { session, told } = await sessionCommands.open(principal, asked);
      return work(session, { prompt, ephemeral, wait_secs }, { caller, c, told });
    }),
    serve(chat, {
      tag: "Sessions",
      summary: "Gives a session work",
      params: sessionParams,
      details:
        "Without `wait_secs` it answers at once. With it, at the turn's end, or when a decision is needed. " +
        "While `--max-running` children run, the turn is queued, and starts by itself when its `place` in the queue comes.",
      body: { prompt: "Make hello.txt", wait_secs: 60 },
      answers: { 200: STANDS, 202: BEGUN },
      errors: ["turn_running", "limit_reached", "claude_unavailable", "unreachable"],
    }).by(async ({ principal, caller, params, body, c }) =>
      work(await sessions.require(principal, params.key), body, { caller, c }),
    ),
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
