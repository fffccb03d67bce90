import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { App, ApprovalList, Principal } from "../../../app.ts";
import { type Approval, type ToldApproval, toldApproval } from "../../../contract/approvals/approval.ts";
import { AppError, errorResult } from "../../../contract/refusals/errors.ts";
import type { TurnEvent } from "../../../contract/sessions/turn.ts";
import { cutApproval, cutEvent, MAX_RESULT_CHARS } from "../../../contract/text/cut.ts";
import { fitting, listedChars } from "../../../contract/text/fit.ts";
import type { ToldEvent } from "../../../contract/tools/turn-answers.ts";
import type { WaitedFor } from "../../../contract/tools/wait-answers.ts";
import type { JsonObject } from "../../../contract/values.ts";

type NumberedEvent = { seq: number; event: TurnEvent };
/** Who reads, and with what views. */
type Reader = { app: Pick<App, "approvalViews">; principal: Principal };
/** As many approvals as fit. */
type Page<T> = { approvals: T[]; has_more: boolean };

/** More than a result can hold of even the smallest approvals. */
export const MAX_LISTED = 200;
/** Beside a turn's text or events. */
const MAX_PENDING_CHARS = 15_000;
/** What is left for approvals, however many refusals there are. */
export const MIN_APPROVAL_CHARS = 2_000;
/** So many approvals of one answer are many. */
const MANY = 6;
/** What expires as soon as that says so, however many there are. */
const URGENT_SECS = 60;
/** Room for what stands around the approvals of a list. */
const ENVELOPE_CHARS = 1_500;

/** One text block holding one JSON object, and the same object as structured content. */
export function result(value: JsonObject): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

export function refusal(error: AppError): CallToolResult {
  return { ...result(errorResult(error, "mcp")), isError: true };
}

/**
 * As many approvals from the front as a result can carry, with what helps to decide them; the first one always, cut
 * where it is too long. What helps is found for those alone that are shown, and words that stand at the one before of
 * the same session are not said again; another answer says them again, since it must do without this one.
 */
export async function fitApprovals(
  reader: Reader,
  list: ApprovalList,
  maxChars = MAX_RESULT_CHARS,
): Promise<Page<Approval>> {
  return fit(reader, list, maxChars, (approval) => approval);
}

/** What calls that are alike share, one after the other. */
const SHARED = ["suggested_rule", "why_asked"] as const;
type Shared = Pick<Approval, (typeof SHARED)[number]>;

/** The same; of many, each without what stands at the one before it of its session. */
export async function fitMany(reader: Reader, list: ApprovalList, maxChars: number): Promise<Page<ToldApproval>> {
  const told = new Map<string, Shared>();
  let lastSession: string | undefined;
  const named = Map.groupBy(list.approvals, ({ session_name }) => session_name);
  const isOnly = ({ session_name, session_id }: Approval) =>
    named.get(session_name)?.every((other) => other.session_id === session_id) ?? true;
  return fit(reader, list, maxChars, (approval): ToldApproval => {
    const before = told.get(approval.session_id);
    const isNamed = lastSession === approval.session_id;
    told.set(approval.session_id, approval);
    lastSession = approval.session_id;
    if (!before || list.approvals.length < MANY) return approval;
    const since = { ...approval, ...changedSince(before, approval) };
    if ((approval.expires_in_secs ?? 0) < URGENT_SECS) return since;
    const { session_id, session_name, cwd, expires_in_secs, ...own } = brief(since);
    if (isNamed) return own;
    // Somebody who sees the sessions of several owners may see a name twice.
    return { ...own, session_name, ...(!isOnly(approval) && { session_id }) };
  });
}

/** What is shared with the one before is left out; `null` where only that one had something. */
function changedSince(before: Shared, approval: Shared): Pick<ToldApproval, keyof Shared> {
  const changes = SHARED.map((key) => [key, approval[key] === before[key] ? undefined : (approval[key] ?? null)]);
  return Object.fromEntries(changes);
}

/** Without what an agent has no use for as it goes on, and that it is pending; `loopback_get` has it. */
function brief<T extends ToldApproval>({ tool_use_id, created_at, expires_at, status, ...approval }: T) {
  return approval;
}

async function fit<T extends ToldApproval>(
  { app, principal }: Reader,
  { approvals, hasMore }: ApprovalList,
  maxChars: number,
  asShown: (approval: Approval) => T,
): Promise<Page<T>> {
  const share = approvals.length === 1 ? maxChars - ENVELOPE_CHARS : maxChars / 4;
  const shown: T[] = [];
  const lastSaid = new Map<string, string>();
  let room = maxChars - ENVELOPE_CHARS;
  for (const approval of approvals) {
    // Who remembers it all the same is told why not.
    const { said = "", no_rule: _, ...told } = toldApproval(await app.approvalViews.show(approval, principal));
    // Left out where it is the same as before, so that who said nothing is told apart from that.
    const isSaid = said === (lastSaid.get(told.session_id) ?? "");
    const cut = cutApproval(asShown(isSaid ? told : { ...told, said }), share);
    room -= listedChars(cut);
    if (room < 0 && shown.length > 0) break;
    shown.push(cut);
    lastSaid.set(told.session_id, said);
  }
  return { approvals: shown, has_more: hasMore || shown.length < approvals.length };
}

/** With fewer approvals where all would not fit: what is pending is told again, but the end of a turn is not. */
export function fitWait(wait: WaitedFor, room: number): WaitedFor {
  const { approvals: told, ...whole } = wait;
  const approvals = told.map(brief);
  // Who runs on can be asked again; an end can't.
  const rest = JSON.stringify(whole).length + MIN_APPROVAL_CHARS > room ? { ...whole, running: [] } : whole;
  const left = room - JSON.stringify(rest).length;
  if (JSON.stringify(approvals).length <= left) return { ...rest, approvals };
  const cut = approvals.values().map((approval) => cutApproval(approval, left / Math.min(2, approvals.length)));
  const shown = fitting(cut, left, listedChars);
  return { ...rest, approvals: shown, ...(shown.length < approvals.length && { has_more: true as const }) };
}

/** As many as fit; `loopback_pending` has the others. */
export async function pendingIn(reader: Reader, list: ApprovalList) {
  const { approvals, has_more } = await fitApprovals(reader, list, MAX_PENDING_CHARS);
  return { pending_approvals: approvals, ...(has_more && { more_pending: true as const }) };
}

/** The same for an answer about one session, with which an agent goes on at once. */
export async function pendingBriefly(reader: Reader, list: ApprovalList) {
  const { approvals, has_more } = await fitMany(reader, list, MAX_PENDING_CHARS);
  const shown = approvals.map(({ session_id, ...approval }) => brief(approval));
  return { pending_approvals: shown, ...(has_more && { more_pending: true as const }) };
}

/** For a call that was sent and not answered: only its caller can find out what became of it. */
export function unknownOutcome(tool: string | undefined): AppError {
  return new AppError(
    "outcome_unknown",
    `Plexus was gone before it answered: whether ${tool} was done is not known. ` +
      "Look before you repeat it: loopback_pending and loopback_get tell of asks, claudecode_list and claudecode_get of sessions.",
  );
}

/** As many events from the front as fit; the first one always, cut where it is too long. */
export function fitEvents(events: NumberedEvent[], maxChars: number): ToldEvent[] {
  const longest = Math.max(1_000, maxChars / 2);
  const cut = events.values().map(({ seq, event }) => ({ seq, event: cutEvent(event, longest) }));
  return fitting(cut, maxChars, listedChars);
}
