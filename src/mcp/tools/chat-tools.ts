import { z } from "zod";
import type { Session } from "../../app.ts";
import { parsedArguments } from "../../contract/arguments/problems.ts";
import { AppError, ErrorCode, errorResult } from "../../contract/refusals/errors.ts";
import { SESSION_ID } from "../../contract/samples.ts";
import type { Warned } from "../../contract/sessions/answers.ts";
import { Child, MAX_CHILDREN, RunInput } from "../../contract/sessions/run-input.ts";
import { ChatInput, ChatWaitInput } from "../../contract/sessions/session.ts";
import type { SessionStatus } from "../../contract/sessions/turn.ts";
import { MAX_RESULT_CHARS } from "../../contract/text/cut.ts";
import { cutText } from "../../contract/text/cut-text.ts";
import { fitting, fittingText, listedChars } from "../../contract/text/fit.ts";
import { ChatAnswer, RunAnswer, StartAnswer, type StartedChildren } from "../../contract/tools/turn-answers.ts";
import type { WaitAnswer } from "../../contract/tools/wait-answers.ts";
import { Consumer, Id, MAX_NAME_CHARS, Name } from "../../contract/values.ts";
import { afterEnd, STILL_RUNNING, toDecide } from "./advice.ts";
import { tellingOf } from "./declaration/telling.ts";
import { pendingBriefly, pendingIn } from "./declaration/told-approvals.ts";
import { endOfWait, type ToolCall, tool } from "./declaration/tool.ts";
import { sessionOf } from "./session-reference.ts";
import { cursorOf, type Part, resumedWait, secsLeft, WaitState, waitAnswer } from "./wait-tool.ts";

const RUN = "claudecode_run";
const DEFAULT_WAIT_SECS = 45;
/** The limit for a child's last message; the conversation has all of it. */
export const MAX_TEXT_CHARS = 2_000;
export const MAX_ERROR_CHARS = 1_000;
/** The limit for the reason why one of several children did not start: with 16 children, a full wait still has room. */
const MAX_CHILD_ERROR_CHARS = 250;
const ENVELOPE_CHARS = 800;

/** The state of a call that waits for a started turn; `until` is Unix time in milliseconds. */
const ChatState = z.strictObject({ session_id: Id, turn_id: Id, until: z.number(), consumer: Consumer });
/** The given name of a child that did not start; it may be invalid. */
const NotStarted = z.string().max(MAX_NAME_CHARS);
/** Several children, each with the session whose turn started, or with the code of its error. */
const ChildrenState = z.strictObject({
  children: z
    .array(
      z.union([z.strictObject({ name: Name, session_id: Id }), z.strictObject({ name: NotStarted, code: ErrorCode })]),
    )
    .max(MAX_CHILDREN),
  wait: WaitState,
});

const STARTED = "Call loopback_wait for its requests and its end.";
const NEXT: Partial<Record<SessionStatus, string>> = {
  queued: "It starts by itself. Call loopback_wait.",
  running: "It works. Call loopback_wait.",
  idle: "The session was deleted meanwhile.",
};

const COMPLETE: z.input<typeof ChatAnswer> = {
  type: "ok",
  session_id: SESSION_ID,
  status: "complete",
  text: "There are three files in the directory.",
  error: null,
  pending_approvals: [],
  usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.00014, num_turns: 1 },
  cursor: 12,
  next: afterEnd({ status: "complete", error: null }),
};
const works = { readOnlyHint: false, destructiveHint: true };

/** The tools that give children work. */
export const CHAT_TOOLS = [
  tool({
    name: RUN,
    title: "Run children",
    description:
      "Goes on with the Claude Code child of that name, or makes it (created: true), gives it a prompt, and waits " +
      "like claudecode_chat. Takes every setting of claudecode_create; those of an existing child must not differ. Several children: " +
      "it answers like loopback_wait; one that fails has an error.",
    input: RunInput,
    answer: RunAnswer,
    examples: [
      {
        input: { name: "worker", prompt: "How many files are here?", working_dir: "/srv/project" },
        answer: { ...COMPLETE, created: true },
      },
      {
        input: { children: [{ name: "worker", prompt: "Write a test", supervision: "strict" }], wait_secs: 0 },
        answer: {
          type: "started",
          sessions: [{ name: "worker", session_id: SESSION_ID, created: true, working_dir: "/srv/project" }],
          wait: {
            type: "timeout",
            running: [{ name: "worker", status: "running", silent_secs: 0 }],
            cursor: 7,
            next: STILL_RUNNING,
          },
        },
      },
    ],
    annotations: works,
    untrusted: ["text", "error", "pending_approvals", "wait"],
  }).runs(
    async (call, { children, wait_secs, consumer, ...one }) => {
      const { app, principal } = call;
      if (children === undefined) {
        const { prompt, ...asked } = parsedArguments(Child, one, RUN);
        const { session, told } = await app.sessionCommands.open(principal, asked);
        return { ...(await chatAnswer(call, session, { prompt, wait_secs, consumer }, pendingBriefly)), ...told };
      }
      if (Object.values(one).some((value) => value !== undefined))
        throw new AppError(
          "invalid_arguments",
          "With children, everything goes into each of them: give children, wait_secs and consumer, or one child, not both.",
        );
      const started = await app.sessionCommands.startEach(principal, children);
      const sessions = started.map((child) =>
        "refusal" in child ? { name: child.name, error: shortened(child.refusal) } : fewerWarnings(child),
      );
      refuseIfNone(sessions);
      return childrenAnswer(call, sessions, (part) => waitAnswer(call, { timeout_secs: wait_secs, consumer }, part));
    },
    {
      state: z.union([ChatState, ChildrenState]),
      async resume(call, state) {
        if ("turn_id" in state) return chatAnswerAgain(call, state, pendingBriefly);
        const sessions = await Promise.all(state.children.map((child) => startedBefore(call, child)));
        return childrenAnswer(call, sessions, (part) => resumedWait(call, state.wait, part));
      },
    },
  ),
  tool({
    name: "claudecode_chat",
    title: "Run a turn",
    description:
      "Gives a session's child a prompt and waits for the end of its turn; returns earlier when a decision is needed (status " +
      "awaiting_permission) or after wait_secs (running, queued). text is its last message, cut at 2,000 characters.",
    input: ChatWaitInput,
    answer: ChatAnswer,
    examples: [{ input: { name: "worker", prompt: "How many files are here?" }, answer: COMPLETE }],
    annotations: works,
    untrusted: ["text", "error", "pending_approvals"],
  }).runs(
    async (call, { name, session_id, ...work }) =>
      chatAnswer(call, await sessionOf(call, { name, session_id }), work, pendingIn),
    { state: ChatState, resume: (call, state) => chatAnswerAgain(call, state, pendingIn) },
  ),
  tool({
    name: "claudecode_chat_async",
    title: "Start a turn",
    description: "Gives a session's child a prompt and returns at once: started, or queued until it may run.",
    input: ChatInput,
    answer: StartAnswer,
    examples: [
      {
        input: { name: "worker", prompt: "Make hello.txt" },
        answer: { type: "started", session_id: SESSION_ID, cursor: 7, next: STARTED },
      },
      {
        input: { name: "worker", prompt: "Make hello.txt" },
        when: "while `--max-running` children run",
        answer: { type: "queued", session_id: SESSION_ID, place: 3, cursor: 7, next: STARTED },
      },
    ],
    annotations: works,
  }).runs(async (call, { prompt, ephemeral, ...reference }) => {
    const session = await sessionOf(call, reference);
    const { turn_id, ...begun } = await call.app.sessionCommands.start(session, { prompt, ephemeral });
    return { ...begun, cursor: await cursorOf(call, undefined), next: STARTED };
  }),
];

/** If no child started, nothing was done: throws a refusal with the reason for each. */
function refuseIfNone(sessions: StartedChildren["sessions"]): void {
  const refused = sessions.flatMap((child) => ("error" in child ? [child] : []));
  const [first] = refused;
  if (!first || refused.length < sessions.length) return;
  const reasons = refused.map(({ name, error }) => `"${name}": ${error.message}`);
  throw new AppError(first.error.code, `None of the children was started. ${reasons.join(" ")}`);
}

/** Reports for each child whether its turn started, together with the answer of `wait`. */
async function childrenAnswer(
  call: ToolCall,
  sessions: StartedChildren["sessions"],
  wait: (part: Part) => Promise<WaitAnswer>,
): Promise<StartedChildren> {
  const children = sessions.map((child) => {
    const { name } = child;
    return "error" in child ? { name, code: child.error.code } : { name, session_id: child.session_id };
  });
  const room = MAX_RESULT_CHARS - ENVELOPE_CHARS - JSON.stringify(sessions).length;
  const onBegun = (state: WaitState) => call.waits({ children, wait: state });
  return { type: "started", sessions, wait: await wait({ onBegun, room: () => room }) };
}

type ChildBefore = z.output<typeof ChildrenState>["children"][number];

/** A child whose turn another process started, or the reason why it did not. */
async function startedBefore(call: ToolCall, child: ChildBefore): Promise<StartedChildren["sessions"][number]> {
  if ("code" in child) {
    const message = "It was not started. The server was gone before it could say more.";
    return { name: child.name, error: { code: child.code, message } };
  }
  const { id, name } = await sessionOf(call, { session_id: child.session_id });
  return { name, session_id: id };
}

/** Keeps only the warnings that fit, but always the first. */
function fewerWarnings<C extends Warned>(child: C): C {
  const { warnings } = child;
  return warnings ? { ...child, warnings: fitting(warnings, MAX_CHILD_ERROR_CHARS, listedChars) } : child;
}

function shortened(refusal: AppError) {
  const { type: _, ...error } = errorResult(refusal, "mcp");
  const message = fittingText(error.message, MAX_CHILD_ERROR_CHARS);
  return { ...error, message: message === error.message ? message : `${message}…` };
}

type Work = { prompt: string; ephemeral?: boolean | undefined; wait_secs?: number | undefined } & Reading;
type Reading = { consumer?: string | undefined };

/** Gives a session work and reports the state of its turn after the wait. */
async function chatAnswer(
  call: ToolCall,
  session: Session,
  { wait_secs = DEFAULT_WAIT_SECS, consumer, ...work }: Work,
  shown: typeof pendingBriefly,
) {
  const until = Date.now() + wait_secs * 1000;
  const onBegun = ({ id }: { id: string }) => call.waits({ session_id: session.id, turn_id: id, until, consumer });
  const waiting = { ...chatOptions(call, session, until), onBegun };
  return standing(call, session, await call.app.sessionCommands.chat(session, work, waiting), shown, consumer);
}

/** The same for a turn that another process started: only waits for it. */
async function chatAnswerAgain(call: ToolCall, state: z.output<typeof ChatState>, shown: typeof pendingBriefly) {
  const session = await sessionOf(call, { session_id: state.session_id });
  call.waits(state);
  const waiting = chatOptions(call, session, state.until);
  const result = await call.app.sessionCommands.awaitTurn(session, state.turn_id, waiting);
  return standing(call, session, result, shown, state.consumer);
}

function chatOptions(call: ToolCall, session: Session, until: number) {
  return {
    waitMs: secsLeft(until) * 1000,
    signal: endOfWait(call),
    maxChars: MAX_TEXT_CHARS,
    onProgress: (events: number) => call.progress(events, `${session.name}: ${events} events so far`),
  };
}

type ChatResult = Awaited<ReturnType<ToolCall["app"]["sessionCommands"]["chat"]>>;

async function standing(
  call: ToolCall,
  session: Session,
  result: ChatResult,
  shown: typeof pendingBriefly,
  consumer: string | undefined,
): Promise<z.output<typeof ChatAnswer>> {
  const { turn, status, error, text, pending, usage, place } = result;
  const asking = await shown(call, pending);
  tellingOf(call, consumer).note(asking.pending_approvals);
  const isAsking = asking.pending_approvals.length > 0;
  const next = isAsking ? toDecide(asking.pending_approvals) : (afterEnd(result) ?? NEXT[status]);
  return {
    type: "ok",
    session_id: session.id,
    status,
    ...(place !== undefined && { place }),
    text,
    error: error && cutText(error, MAX_ERROR_CHARS),
    ...asking,
    usage,
    cursor: await cursorOf(call, consumer, hasEnded(status) ? [turn.id] : []),
    ...(next !== undefined && { next }),
  };
}

function hasEnded(status: SessionStatus): boolean {
  return status === "complete" || status === "failed" || status === "cancelled";
}
