import { type Approval, GetInput, PendingInput, toldApproval } from "../../contract/approvals/approval.ts";
import { APPROVAL_ID, INPUT, PENDING } from "../../contract/samples.ts";
import { MAX_RESULT_CHARS } from "../../contract/text/cut.ts";
import { cutApproval } from "../../contract/text/cut-approval.ts";
import { fittingText } from "../../contract/text/fit.ts";
import { GetAnswer, PendingAnswer } from "../../contract/tools/approval-answers.ts";
import { toDecide } from "./advice.ts";
import { MAX_LISTED } from "./declaration/results.ts";
import { tellingOf } from "./declaration/telling.ts";
import { fitMany } from "./declaration/told-approvals.ts";
import { type ToolCall, tool } from "./declaration/tool.ts";
import { sessionOf } from "./session-reference.ts";
import { nextOfIdle } from "./wait-tool.ts";

const MAX_SLICE_CHARS = 30_000;
/** Room for the rest of a result beside an approval or a part of its input. */
const ENVELOPE_CHARS = 1_500;
const MAX_MATCHES = 20;
/** How many characters are shown before and after a match. */
const AROUND_CHARS = 60;

const NEXT = {
  nothingWaits: "Nothing waits. Call loopback_wait to learn of the next request.",
  decideEach: "Decide them with loopback_respond: decisions takes up to 100 at once.",
  decided: "It is settled, as status says.",
  readRest: "Read on from cut_at as offset",
  readOn: "Go on with offset + length as offset.",
  end: "That was the end.",
  noMatch: "It does not occur there.",
  readAround: "Read what stands around one with its offset and a length.",
  searchOn: "Search on with the last offset + 1 as offset.",
};

/** The tools with which a caller lists and reads requests. */
export const APPROVAL_TOOLS = [
  tool({
    name: "loopback_pending",
    title: "List pending requests",
    description: "Lists the requests of your children that wait for a decision, oldest first.",
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
    const session = session_id === undefined ? undefined : await sessionOf(call, { session_id });
    const shown = await fitMany(
      call,
      await app.approvals.pending(principal, session?.id, MAX_LISTED),
      MAX_RESULT_CHARS - ENVELOPE_CHARS,
    );
    tellingOf(call).note(shown.approvals);
    if (shown.approvals.length > 0) return { type: "ok", ...shown, next: toDecide(shown.approvals, NEXT.decideEach) };
    const isIdle = await app.eventFeed.isIdle(principal, session?.id);
    return { type: "ok", ...shown, next: isIdle ? await nextOfIdle(call, session) : NEXT.nothingWaits };
  }),
  tool({
    name: "loopback_get",
    title: "Read one request in full",
    description:
      "Reads one request, decided or not; of a write or an edit also diff, what it would change in the file. What is too long " +
      "is cut: read on from cut_at as offset.",
    input: GetInput,
    answer: GetAnswer,
    examples: [
      {
        input: { approval_id: APPROVAL_ID },
        answer: { type: "ok", approval: PENDING, next: toDecide([PENDING]) },
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
      {
        input: { approval_id: APPROVAL_ID, search: "hello" },
        answer: {
          type: "ok",
          approval_id: APPROVAL_ID,
          matches: [{ offset: 18, text: JSON.stringify(INPUT) }],
          total: JSON.stringify(INPUT).length,
          has_more: false,
          next: NEXT.readAround,
        },
      },
    ],
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["approval", "text", "matches"],
  }).runs(async (call, { approval_id, offset, length, search }) => {
    const { app, principal } = call;
    const approval = await app.approvals.get(principal, approval_id);
    if (search !== undefined) return matchesIn(approval, await textOf(call, approval), search, offset ?? 0);
    if (offset !== undefined || length !== undefined)
      return slice(call, approval, offset ?? 0, length ?? MAX_SLICE_CHARS);
    const whole = toldApproval(await app.approvalViews.showWhole(approval, principal));
    const shown = cutApproval(whole, MAX_RESULT_CHARS - ENVELOPE_CHARS);
    tellingOf(call).note([shown]);
    return { type: "ok", approval: shown, next: `${nextOf(shown)}${removedNote(approval)}` };
  }),
];

/** What to do with a request that was read, and with the parts that were cut. */
function nextOf({ cut_at, ...approval }: Approval): string {
  const isCut = cut_at !== undefined;
  if (approval.status !== "pending") return isCut ? `${NEXT.decided} ${NEXT.readRest}.` : NEXT.decided;
  const decide = toDecide([approval]);
  return isCut && !approval.escalates ? `${NEXT.readRest} first. ${decide}` : decide;
}

/** The JSON text of the input, with the plan that the CLI removed from it. */
async function textOf({ app, principal }: ToolCall, approval: Approval): Promise<string> {
  if (approval.tool_name !== "ExitPlanMode") return JSON.stringify(approval.input);
  const { plan } = await app.approvalViews.show(approval, principal);
  return JSON.stringify({ ...approval.input, ...(plan !== undefined && { plan }) });
}

async function slice(call: ToolCall, approval: Approval, offset: number, length: number) {
  const json = await textOf(call, approval);
  // The JSON of the result escapes the text once more, so the text may grow beyond the limit of a result.
  const text = fittingText(json.slice(offset, offset + length), MAX_RESULT_CHARS - ENVELOPE_CHARS);
  const to = offset + text.length;
  tellingOf(call).noteSlice(approval.id, { from: offset, to }, json.length);
  const has_more = to < json.length;
  const next = has_more ? NEXT.readOn : await nextAtEnd(call, approval);
  return {
    type: "ok" as const,
    approval_id: approval.id,
    text,
    offset,
    length: text.length,
    total: json.length,
    has_more,
    next: `${next}${removedNote(approval)}`,
  };
}

async function nextAtEnd({ app, principal }: ToolCall, approval: Approval): Promise<string> {
  if (approval.status !== "pending") return NEXT.end;
  return `${NEXT.end} ${toDecide([await app.approvalViews.show(approval, principal)])}`;
}

function matchesIn(approval: Approval, json: string, search: string, from: number) {
  // In the JSON text, a quote or a line break is written with a backslash.
  const escaped = JSON.stringify(search).slice(1, -1);
  const wanted = json.includes(escaped) ? escaped : search;
  const offsets: number[] = [];
  let at = json.indexOf(wanted, from);
  for (; at >= 0 && offsets.length < MAX_MATCHES; at = json.indexOf(wanted, at + 1)) offsets.push(at);
  const matches = offsets.map((offset) => ({
    offset,
    text: json.slice(Math.max(0, offset - AROUND_CHARS), offset + wanted.length + AROUND_CHARS),
  }));
  const has_more = at >= 0;
  const next = has_more ? NEXT.searchOn : matches.length > 0 ? NEXT.readAround : NEXT.noMatch;
  return {
    type: "ok" as const,
    approval_id: approval.id,
    matches,
    total: json.length,
    has_more,
    next: `${next}${removedNote(approval)}`,
  };
}

function removedNote({ input_removed_at }: Approval): string {
  return input_removed_at === undefined ? "" : " Its input was removed to save space.";
}
