import { z } from "zod";
import {
  type BatchResult,
  batchResult,
  MAX_DECISIONS,
  RespondInput,
  type RespondResult,
} from "../../contract/approvals/decision.ts";
import { AppError, ErrorCode } from "../../contract/refusals/errors.ts";
import { APPROVAL_ID, ASKED_AT } from "../../contract/samples.ts";
import { MAX_RESULT_CHARS } from "../../contract/text/cut.ts";
import { fittingText, listedChars } from "../../contract/text/fit.ts";
import { RespondAnswer } from "../../contract/tools/approval-answers.ts";
import type { WaitAnswer } from "../../contract/tools/wait-answers.ts";
import { Id } from "../../contract/values.ts";
import { MIN_APPROVAL_CHARS, unknownOutcome } from "./declaration/results.ts";
import { type ToolCall, tool } from "./declaration/tool.ts";
import { cursorOf, resumedWait, WaitState, waitAnswer, waitWithin } from "./wait-tool.ts";

const RESPOND = "loopback_respond";
/** Of results and what was waited for together: a part is left for what stands around them. */
const MAX_CHARS = MAX_RESULT_CHARS - 1_500;
/** What all results may take, so that most of an answer is left for what was waited for. */
const MAX_RESULTS_CHARS = 16_000;
/** How many rules that decisions have made are shown, each once, and how much of the reason of each. */
const MAX_RULES = 10;
const MAX_REASON_CHARS = 200;
/** Of an id that was not found; those that exist are shorter. */
const MAX_ECHO_CHARS = 60;
/** Of who was first, where many results tell it. */
const MAX_NAME_CHARS = 60;

const NEXT = {
  recorded: "Recorded; the child has its answer. Call loopback_wait for what comes next.",
  decidedBefore: "It was settled before, as status says: this call has changed nothing. Call loopback_wait.",
  each: "Each result says what holds now. Call loopback_wait for what comes next.",
  some: "What has an error is not decided: it says why. Call loopback_wait for what comes next.",
  none: "Nothing was decided: each error says why.",
};
const UNREAD = "Claude Code gives a message with an approval to nobody: it is on record only.";

/** One decision of a call that waits: of what, and whether it counts, or why not. */
const Noted = z.union([z.tuple([Id, z.enum(["ok", "already_resolved"])]), z.tuple([Id.nullable(), ErrorCode])]);
type Noted = z.output<typeof Noted>;
const RespondState = z.strictObject({
  kind: z.enum(["one", "many"]),
  results: z.array(Noted).min(1).max(MAX_DECISIONS),
  unread: z.boolean(),
  wait: WaitState,
});

/** What became of the decisions of a call; `unread`: one of them has a message that reaches nobody. */
type Decided =
  | { kind: "one"; result: RespondResult; unread: boolean }
  | { kind: "many"; results: BatchResult[]; unread: boolean };
type Wait = (onBegun: (state: WaitState) => void) => Promise<WaitAnswer>;
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
  untrusted: ["wait"],
}).runs(
  async (call, input) => {
    const { app, principal } = call;
    const waiting = (secs: number | undefined): Wait | undefined =>
      secs === undefined ? undefined : (onBegun) => waitAnswer(call, { timeout_secs: secs }, onBegun);
    if (input.kind === "one") {
      const { approval_id, ...decision } = input.decision;
      const result = await app.approvals.decide(principal, approval_id, decision);
      return answered(call, { kind: "one", result, unread: isUnread(result, decision) }, waiting(input.wait_secs));
    }
    const decided = await app.approvals.decideEach(principal, input.decisions);
    const results = decided.map((one) => batchResult(one, "mcp"));
    const unread = results.some((result, at) => {
      const given = input.decisions[at];
      return given !== undefined && "decision" in given && isUnread(result, given.decision);
    });
    // Where nothing was decided there is nothing to wait for.
    const wait = waiting(results.every(({ type }) => type === "error") ? undefined : input.wait_secs);
    return answered(call, { kind: "many", results, unread }, wait);
  },
  {
    // What was decided is on record: only what comes after it is waited for.
    state: RespondState,
    resume: async (call, state) =>
      answered(call, await decidedBefore(call, state), (onBegun) => resumedWait(call, state.wait, onBegun)),
  },
);

async function answered(call: ToolCall, decided: Decided, wait: Wait | undefined) {
  const after = await afterwards(
    call,
    wait && (() => wait((state) => call.waits({ ...stateOf(decided), wait: state }))),
  );
  if (decided.kind === "one") {
    const { result } = decided;
    const next = result.type === "ok" ? NEXT.recorded : NEXT.decidedBefore;
    const shown = result.type === "ok" ? withShortRule(result) : result;
    return { ...shown, ...inRoom(after, listedChars(shown)), ...noteOf(decided), ...nextOf(after, next) };
  }
  const results = shortened(decided.results, after);
  const shown = { results, ...inRoom(after, listedChars(results)) };
  return { type: "ok" as const, ...shown, ...noteOf(decided), ...nextOf(after, nextOfMany(decided.results)) };
}

/** The ids of what was decided, and of what was not for what reason: the record has the rest. */
function stateOf(decided: Decided): Omit<z.output<typeof RespondState>, "wait"> {
  const results = decided.kind === "one" ? [decided.result] : decided.results;
  const noted = results.map(
    (result): Noted =>
      result.type === "error" ? [result.approval_id ?? null, result.code] : [result.approval_id, result.type],
  );
  return { kind: decided.kind, results: noted, unread: decided.unread };
}

/** What the record says of them; a decision never changes. */
async function decidedBefore(
  call: ToolCall,
  { kind, results, unread }: z.output<typeof RespondState>,
): Promise<Decided> {
  const found = await Promise.all(results.map((noted) => onRecord(call, noted)));
  if (kind === "many") return { kind, results: found, unread };
  const [result] = found;
  if (!result || result.type === "error") throw unknownOutcome(RESPOND);
  return { kind, result, unread };
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

/** A message with an approval reaches nobody, which who wrote it should know. */
function isUnread(
  result: RespondResult | BatchResult,
  { approve, message }: { approve: boolean; message?: string | undefined },
) {
  return result.type === "ok" && approve && Boolean(message);
}

function nextOfMany(results: BatchResult[]): string {
  const errors = results.filter(({ type }) => type === "error").length;
  if (errors === 0) return NEXT.each;
  return errors < results.length ? NEXT.some : NEXT.none;
}

/** What was waited for says by itself what to do next. */
function nextOf({ wait }: After, next: string): { next?: string } {
  return wait ? {} : { next };
}

function noteOf({ unread }: Decided): { note?: string } {
  return unread ? { note: UNREAD } : {};
}

/** Where to wait on from, and what loopback_wait answers now, where somebody wants to wait. */
async function afterwards(call: ToolCall, waited: (() => Promise<WaitAnswer>) | undefined): Promise<After> {
  if (!waited) return { cursor: await cursorOf(call) };
  const wait = await waited();
  return { cursor: wait.cursor, wait };
}

function inRoom({ cursor, wait }: After, taken: number): After {
  return { cursor, ...(wait && { wait: waitWithin(wait, MAX_CHARS - taken) }) };
}

/** Messages of refusals so short that all results fit, and an approval beside them. */
function shortened(results: BatchResult[], { wait }: After): BatchResult[] {
  const errors = results.filter(({ type }) => type === "error");
  const withMessages = (most: number) => {
    const rules = new Set<string>();
    return results.map((result) => {
      if (result.type === "ok") return isNews(result, rules) ? withShortRule(result) : withoutRule(result);
      if (result.type === "error") return { ...withShortId(result), message: headOf(result.message, most) };
      return { ...result, resolved_by: headOf(result.resolved_by, MAX_NAME_CHARS) };
    });
  };
  const rest = wait?.type === "ok" ? JSON.stringify({ ...wait, approvals: [] }).length + MIN_APPROVAL_CHARS : 0;
  const room = Math.min(MAX_RESULTS_CHARS, MAX_CHARS - rest) - listedChars(withMessages(0));
  return withMessages(Math.floor(room / Math.max(1, errors.length)));
}

type Recorded = Extract<BatchResult, { type: "ok" }>;

/** Whether it made a rule that no result before it shows, as long as there are not too many. */
function isNews({ rule }: Recorded, shown: Set<string>): boolean {
  if (!rule || shown.has(rule.id) || shown.size >= MAX_RULES) return false;
  shown.add(rule.id);
  return true;
}

function withShortRule(result: Recorded): Recorded {
  const { rule } = result;
  return rule?.reason === undefined
    ? result
    : { ...result, rule: { ...rule, reason: headOf(rule.reason, MAX_REASON_CHARS) } };
}

function withoutRule({ rule: _, ...result }: Recorded): Recorded {
  return result;
}

/** What was not found may have any id: of one that takes more than its length in JSON, the beginning says which it was. */
function withShortId<R extends { approval_id?: string | undefined }>(result: R): R {
  const { approval_id } = result;
  return approval_id === undefined ? result : { ...result, approval_id: headOf(approval_id, MAX_ECHO_CHARS) };
}

function headOf(message: string, mostChars: number): string {
  const head = fittingText(message, mostChars);
  return head === message ? message : `${head}…`;
}
