import { z } from "zod";
import {
  type ApprovalDecision,
  type BatchResult,
  batchResult,
  MAX_DECISIONS,
  RespondInput,
  type RespondResult,
} from "../../contract/approvals/decision.ts";
import { AppError, ErrorCode } from "../../contract/refusals/errors.ts";
import { APPROVAL_ID, ASKED_AT } from "../../contract/samples.ts";
import { listedChars } from "../../contract/text/fit.ts";
import { RespondAnswer } from "../../contract/tools/approval-answers.ts";
import type { WaitAnswer } from "../../contract/tools/wait-answers.ts";
import { Id } from "../../contract/values.ts";
import { MAX_CHARS, shortened, withFewDangers, withShortRule } from "./decision-results.ts";
import { MIN_APPROVAL_CHARS, unknownOutcome } from "./declaration/results.ts";
import { type Telling, tellingOf } from "./declaration/telling.ts";
import { type ToolCall, tool } from "./declaration/tool.ts";
import { cursorOf, type Part, resumedWait, WaitState, waitAnswer } from "./wait-tool.ts";

const RESPOND = "loopback_respond";

const NEXT = {
  recorded: "Recorded; the child has its answer. Call loopback_wait for what comes next.",
  unanswered: "Recorded. Call loopback_wait for what comes next.",
  decidedBefore: "It was settled before, as status says: this call has changed nothing. Call loopback_wait.",
  each: "Each result says what holds now. Call loopback_wait for what comes next.",
  some: "What has an error is not decided: it says why. Call loopback_wait for what comes next.",
  none: "Nothing was decided: each error says why.",
};
/** Facts to know that are not next steps, in the order in which they are shown. */
const NOTES = {
  unread: "Claude Code gives a message with an approval to nobody: it is on record only.",
  unanswered: "A question was allowed without answers: the child is told that nobody has answered it.",
  partly_told:
    "What has partly_told was allowed although you were told only a part of it (cut_at): loopback_get tells the rest.",
  more_dangers: "There are more dangers than are told here: loopback_get tells those of each.",
};
const Note = z.enum(["unread", "unanswered", "partly_told", "more_dangers"]) satisfies z.ZodType<keyof typeof NOTES>;
type Note = z.output<typeof Note>;

/** The decision on one request in a call that waits: whether it took effect, or the code of its error. */
const Noted = z.union([z.tuple([Id, z.enum(["ok", "already_resolved"])]), z.tuple([Id.nullable(), ErrorCode])]);
type Noted = z.output<typeof Noted>;
const RespondState = z.strictObject({
  kind: z.enum(["one", "many"]),
  results: z.array(Noted).min(1).max(MAX_DECISIONS),
  notes: z.array(Note).max(Note.options.length),
  wait: WaitState,
});

/** The results of the decisions in one call. */
type Decided =
  | { kind: "one"; result: RespondResult; notes: Note[] }
  | { kind: "many"; results: BatchResult[]; notes: Note[] };
type Wait = (part: Part) => Promise<WaitAnswer>;
type After = { cursor: number; wait?: WaitAnswer };

export const RESPOND_TOOL = tool({
  name: RESPOND,
  title: "Allow or deny tool calls",
  description:
    "Allows or denies one request, or many with decisions. Somebody may be faster: then type is " +
    "already_resolved, and resolved_by says who. Allow only what you understand and want.",
  input: RespondInput,
  answer: RespondAnswer,
  examples: [
    {
      input: { approval_id: APPROVAL_ID, approve: true },
      answer: { type: "ok", approval_id: APPROVAL_ID, status: "allowed", cursor: 7, next: NEXT.recorded },
    },
    {
      input: { approval_id: APPROVAL_ID, approve: true },
      when: "when somebody was first",
      answer: {
        type: "already_resolved",
        approval_id: APPROVAL_ID,
        status: "denied",
        resolved_by: "operator",
        resolved_at: ASKED_AT + 1,
        cursor: 7,
        next: NEXT.decidedBefore,
      },
    },
    {
      input: { decisions: [{ approval_id: APPROVAL_ID, approve: true }] },
      answer: {
        type: "ok",
        results: [{ type: "ok", approval_id: APPROVAL_ID, status: "allowed" }],
        cursor: 7,
        next: NEXT.each,
      },
    },
  ],
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  untrusted: ["dangers", "wait"],
}).runs(
  async (call, input) => {
    const { app, principal } = call;
    const { wait_secs: timeout_secs, skip, consumer } = input;
    const telling = tellingOf(call, consumer);
    const waiting = (part: Part) => waitAnswer(call, { timeout_secs, skip, consumer }, part);
    const wait = timeout_secs === undefined ? undefined : waiting;
    if (input.kind === "one") {
      const { approval_id, ...decision } = input.decision;
      const isPart = isPartlyTold(telling, input.decision);
      const result = noted(await app.approvals.decide(principal, approval_id, decision), isPart);
      return answered(call, { kind: "one", result, notes: notesOf(result, decision) }, wait, consumer);
    }
    const arePart = input.decisions.map((one) => "decision" in one && isPartlyTold(telling, one.decision));
    const decided = await app.approvals.decideEach(principal, input.decisions);
    const results = decided.map((one, at) => noted(batchResult(one, "mcp"), arePart[at] === true));
    const notes = results.flatMap((result, at) => {
      const given = input.decisions[at];
      return given !== undefined && "decision" in given ? notesOf(result, given.decision) : [];
    });
    // If nothing was decided, there is nothing to wait for.
    const isAny = results.some(({ type }) => type !== "error");
    return answered(call, { kind: "many", results, notes: [...new Set(notes)] }, isAny ? wait : undefined, consumer);
  },
  {
    // The decisions are on record, so only the wait has to resume.
    state: RespondState,
    resume: async (call, state) =>
      answered(call, await decidedBefore(call, state), (part) => resumedWait(call, state.wait, part), undefined),
  },
);

async function answered(call: ToolCall, decided: Decided, wait: Wait | undefined, consumer: string | undefined) {
  const onBegun = (state: WaitState) => call.waits({ ...stateOf(decided), wait: state });
  /** The present answer of loopback_wait if the caller wants to wait, and the cursor to wait from next. */
  const afterwards = async (room: Part["room"]): Promise<After> => {
    if (!wait) return { cursor: await cursorOf(call, consumer) };
    const waited = await wait({ onBegun, room });
    return { cursor: waited.cursor, wait: waited };
  };
  if (decided.kind === "one") {
    const { result } = decided;
    const shown = result.type === "ok" ? withShortRule(result) : result;
    const after = await afterwards(() => MAX_CHARS - listedChars(shown));
    return { ...shown, ...after, ...noteOf(decided), ...nextOf(after, nextOfOne(result)) };
  }
  const { results: told, areAll } = withFewDangers(decided.results);
  const notes: Note[] = areAll ? decided.notes : [...decided.notes, "more_dangers"];
  let results = shortened(told, 0);
  const after = await afterwards((rest) => {
    results = shortened(told, rest + MIN_APPROVAL_CHARS);
    return MAX_CHARS - listedChars(results);
  });
  return {
    type: "ok" as const,
    results,
    ...after,
    ...noteOf({ notes }),
    ...nextOf(after, nextOfMany(decided.results)),
  };
}

/** Whether the decision allows an input of which the caller has seen only a part. An input of its own it knows. */
function isPartlyTold(
  { known }: Telling,
  { approval_id, approve, updated_input, merge, answers }: ApprovalDecision,
): boolean {
  const isOwn = answers !== undefined || (updated_input !== undefined && !merge);
  return approve && !isOwn && known(approval_id)?.isWhole === false;
}

function noted<R extends BatchResult>(result: R, isPartlyTold: boolean): R {
  return result.type === "ok" && isPartlyTold ? { ...result, partly_told: true } : result;
}

function nextOfOne(result: RespondResult): string {
  if (result.type !== "ok") return NEXT.decidedBefore;
  return result.unanswered ? NEXT.unanswered : NEXT.recorded;
}

/** The ids of the decided requests, and the error codes of the others. The record has the rest. */
function stateOf(decided: Decided): Omit<z.output<typeof RespondState>, "wait"> {
  const results = decided.kind === "one" ? [decided.result] : decided.results;
  const noted = results.map(
    (result): Noted =>
      result.type === "error" ? [result.approval_id ?? null, result.code] : [result.approval_id, result.type],
  );
  return { kind: decided.kind, results: noted, notes: decided.notes };
}

/** Reads the decisions from the record; they never change. */
async function decidedBefore(
  call: ToolCall,
  { kind, results, notes }: z.output<typeof RespondState>,
): Promise<Decided> {
  const found = await Promise.all(results.map((noted) => onRecord(call, noted)));
  if (kind === "many") return { kind, results: found, notes };
  const [result] = found;
  if (!result || result.type === "error") throw unknownOutcome(RESPOND);
  return { kind, result, notes };
}

async function onRecord({ app, principal }: ToolCall, [approval_id, noted]: Noted): Promise<BatchResult> {
  const lost = (code: ErrorCode): BatchResult => ({
    type: "error",
    code,
    message: "This was not decided. The server was gone before it could say more.",
    ...(approval_id !== null && { approval_id }),
  });
  if (noted !== "ok" && noted !== "already_resolved") return lost(noted);
  const approval =
    approval_id === null ? undefined : await app.approvals.outcome(principal, approval_id).catch(ifUnknown);
  const { id, status, resolved_by, resolved_at } = approval ?? {};
  if (!id || !status || !resolved_by || !resolved_at) return lost("outcome_unknown");
  if (noted === "ok") return { type: noted, approval_id: id, status };
  return { type: noted, approval_id: id, status, resolved_by, resolved_at };
}

function ifUnknown(cause: unknown): undefined {
  if (!(cause instanceof AppError) || cause.code !== "not_found") throw cause;
}

/** What the caller should know about its decision. */
function notesOf(
  result: RespondResult | BatchResult,
  { approve, message }: { approve: boolean; message?: string | undefined },
): Note[] {
  if (result.type !== "ok") return [];
  return [
    ...(approve && message ? ["unread" as const] : []),
    ...(result.unanswered ? ["unanswered" as const] : []),
    ...(result.partly_told ? ["partly_told" as const] : []),
  ];
}

function nextOfMany(results: BatchResult[]): string {
  const errors = results.filter(({ type }) => type === "error").length;
  if (errors === 0) return NEXT.each;
  return errors < results.length ? NEXT.some : NEXT.none;
}

/** The answer of the wait has its own `next`. */
function nextOf({ wait }: After, next: string): { next?: string } {
  return wait ? {} : { next };
}

function noteOf({ notes }: Pick<Decided, "notes">): { note?: string } {
  const told = Note.options.filter((note) => notes.includes(note)).map((note) => NOTES[note]);
  return told.length > 0 ? { note: told.join(" ") } : {};
}
