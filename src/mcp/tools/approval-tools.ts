import { type Approval, GetInput, PendingInput, RespondInput, WaitInput } from "../../contract/approvals/approval.ts";
import { cutApproval, MAX_RESULT_CHARS } from "../../contract/cut.ts";
import { fittingText } from "../../contract/fit.ts";
import { APPROVAL_ID, ASKED_AT, INPUT, PENDING } from "../../contract/samples.ts";
import { GetAnswer, PendingAnswer, RespondAnswer, WaitAnswer } from "../../contract/tools/approval-answers.ts";
import { fitApprovals, MAX_LISTED } from "./results.ts";
import { onlyIn } from "./session-reference.ts";
import { tool } from "./tool.ts";

const MAX_FINISHED_CHARS = 15_000;
const MAX_SLICE_CHARS = 30_000;
/** Room for what stands around an approval, or a part of its input. */
const ENVELOPE_CHARS = 1_000;
const DEFAULT_WAIT_SECS = 45;

const NEXT = {
  nothingYet: "Nothing to decide yet. Call loopback_wait again with cursor as since.",
  decideAndWait: "Decide each with loopback_respond, then call loopback_wait with cursor as since.",
  nothingWaits: "Nothing waits. Call loopback_wait to learn of the next ask.",
  decideEach: "Decide each with loopback_respond.",
  recorded: "Recorded; the child has its answer. Call loopback_wait for what comes next.",
  decidedBefore: "Decided before you; your decision was not used. Call loopback_wait for what comes next.",
  decideIt: "Decide it with loopback_respond.",
  decided: "It is decided.",
  readOn: "Go on with offset + length as offset.",
  end: "That was the end.",
};

/** How those who decide learn of requests, read them, and decide. */
export const APPROVAL_TOOLS = [
  tool({
    name: "loopback_wait",
    title: "Wait for something to decide",
    description:
      "Waits until a child of yours asks for permission or ends its turn, and returns at once when an ask is already pending. " +
      "This is how you learn of new asks: notifications do not wake you. Call it in a loop, passing the returned cursor as since.",
    input: WaitInput,
    answer: WaitAnswer,
    examples: [
      {
        input: { since: 1 },
        answer: {
          type: "ok",
          approvals: [PENDING],
          has_more: false,
          finished: [],
          cursor: 2,
          next: NEXT.decideAndWait,
        },
      },
      {
        input: { since: 2, timeout_secs: 30 },
        when: "when the time is up",
        answer: { type: "timeout", cursor: 2, next: NEXT.nothingYet },
      },
    ],
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["approvals", "finished"],
  }).runs(async (call, { session_id, since, timeout_secs }) => {
    const { app, principal, signal } = call;
    const { cursor, finished, ...found } = await app.eventFeed.wait(principal, {
      sessionId: await onlyIn(call, session_id),
      since,
      timeoutMs: (timeout_secs ?? DEFAULT_WAIT_SECS) * 1000,
      limit: MAX_LISTED,
      signal,
    });
    if (found.approvals.length === 0 && finished.length === 0) {
      return { type: "timeout", cursor, next: NEXT.nothingYet };
    }
    const shown = fitApprovals(found, MAX_RESULT_CHARS - MAX_FINISHED_CHARS);
    return { type: "ok", ...shown, finished, cursor, next: NEXT.decideAndWait };
  }),
  tool({
    name: "loopback_pending",
    title: "List what waits for a decision",
    description: "Lists the asks of your children that wait for a decision, oldest first.",
    input: PendingInput,
    answer: PendingAnswer,
    examples: [
      {
        input: {},
        when: "when nothing waits",
        answer: { type: "ok", approvals: [], has_more: false, next: NEXT.nothingWaits },
      },
    ],
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["approvals"],
  }).runs(async (call, { session_id }) => {
    const { app, principal } = call;
    const sessionId = await onlyIn(call, session_id);
    const shown = fitApprovals(await app.approvals.pending(principal, sessionId, MAX_LISTED));
    return { type: "ok", ...shown, next: shown.approvals.length === 0 ? NEXT.nothingWaits : NEXT.decideEach };
  }),
  tool({
    name: "loopback_respond",
    title: "Allow or deny one tool call",
    description:
      "Decides one ask, exactly once: allow it as it is, allow it with another input (updated_input, the whole object), or deny it " +
      "with a message that tells the child why and what to do instead. Somebody may be faster than you: then type is " +
      "already_resolved, and status and resolved_by tell what was decided. Allow only what you understand and want.",
    input: RespondInput,
    answer: RespondAnswer,
    examples: [
      {
        input: { approval_id: APPROVAL_ID, approve: true },
        answer: { type: "ok", approval_id: APPROVAL_ID, status: "allowed", next: NEXT.recorded },
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
          next: NEXT.decidedBefore,
        },
      },
    ],
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  }).runs(async ({ app, principal }, { approval_id, ...decision }) => {
    const answer = await app.approvals.decide(principal, approval_id, decision);
    return { ...answer, next: answer.type === "ok" ? NEXT.recorded : NEXT.decidedBefore };
  }),
  tool({
    name: "loopback_get",
    title: "Read one ask in full",
    description:
      "Reads one ask, decided or not. An input too long for one result is cut (truncated: true, input_size): with offset and " +
      "length this returns that part of the input's JSON text instead.",
    input: GetInput,
    answer: GetAnswer,
    examples: [
      {
        input: { approval_id: APPROVAL_ID },
        answer: { type: "ok", approval: PENDING, next: NEXT.decideIt },
      },
      {
        input: { approval_id: APPROVAL_ID, offset: 1, length: 9 },
        answer: {
          type: "ok",
          approval_id: APPROVAL_ID,
          text: '"command"',
          offset: 1,
          length: 9,
          total: JSON.stringify(INPUT).length,
          has_more: true,
          next: NEXT.readOn,
        },
      },
    ],
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["approval", "text"],
  }).runs(async ({ app, principal }, { approval_id, offset, length }) => {
    const approval = await app.approvals.get(principal, approval_id);
    if (offset !== undefined || length !== undefined) return slice(approval, offset ?? 0, length ?? MAX_SLICE_CHARS);
    const shown = cutApproval(approval, MAX_RESULT_CHARS - ENVELOPE_CHARS);
    const decide = approval.status === "pending" ? NEXT.decideIt : NEXT.decided;
    const rest = shown.truncated ? " Read what was left out with offset and length." : "";
    return { type: "ok", approval: shown, next: `${decide}${rest}${removedNote(approval)}` };
  }),
];

function slice(approval: Approval, offset: number, length: number) {
  const json = JSON.stringify(approval.input);
  // Escaped once more on its way out, the text may grow beyond what a result can carry.
  const text = fittingText(json.slice(offset, offset + length), MAX_RESULT_CHARS - ENVELOPE_CHARS);
  const has_more = offset + text.length < json.length;
  return {
    type: "ok" as const,
    approval_id: approval.id,
    text,
    offset,
    length: text.length,
    total: json.length,
    has_more,
    next: `${has_more ? NEXT.readOn : NEXT.end}${removedNote(approval)}`,
  };
}

function removedNote({ input_removed_at }: Approval): string {
  return input_removed_at === undefined ? "" : " Its input was removed to save space.";
}
