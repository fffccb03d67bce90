import type { App, ApprovalList, KnownRequest, Principal } from "../../../app.ts";
import { type Approval, type ToldApproval, toldApproval } from "../../../contract/approvals/approval.ts";
import { cutApproval } from "../../../contract/text/cut-approval.ts";
import { listedChars } from "../../../contract/text/fit.ts";
import { LONG_CHARS } from "./telling.ts";

/**
 * The caller who reads the approvals, the views that add context, and the long requests that the caller has seen
 * before.
 */
type Reader = {
  app: Pick<App, "approvalViews">;
  principal: Principal;
  known?: (id: string) => KnownRequest | undefined;
};
/** The approvals that fit into an answer. */
type Page<T> = { approvals: T[]; has_more: boolean };

/** The limit for approvals beside a turn's text or events. */
const MAX_PENDING_CHARS = 13_500;
/** Each of several approvals may take this part of the room, and at least LEAST_SHARE_CHARS. */
const MOST_SHARES = 4;
const LEAST_SHARE_CHARS = 2_000;
/** The limit for a long request that the caller has seen before. */
const RETOLD_CHARS = 1_000;
/** From this number on, approvals in one answer are shown briefly. */
const MANY = 6;
/** An approval that expires within this time always shows its expiry. */
const URGENT_SECS = 60;

/**
 * As many approvals from the front as fit into a result, with the context that helps to decide them. The first one is
 * always included, cut if necessary. The context is computed only for the shown ones, and `said` is left out if the
 * previous approval of the session has the same. Each answer starts afresh, because a reader may not have the one
 * before.
 */
export async function fitApprovals(reader: Reader, list: ApprovalList, room: number): Promise<Page<Approval>> {
  return fit(reader, list, room, (approval) => approval);
}

/** The fields that similar consecutive calls have in common. */
const SHARED = ["suggested_rule", "why_asked"] as const;
type Shared = Pick<Approval, (typeof SHARED)[number]>;

/** The same for many approvals: each omits what the previous one of its session already shows. */
export async function fitMany(reader: Reader, list: ApprovalList, room: number): Promise<Page<ToldApproval>> {
  const told = new Map<string, Shared>();
  let lastSession: string | undefined;
  const named = Map.groupBy(list.approvals, ({ session_name }) => session_name);
  const isOnly = ({ session_name, session_id }: Approval) =>
    named.get(session_name)?.every((other) => other.session_id === session_id) ?? true;
  return fit(reader, list, room, (approval): ToldApproval => {
    const before = told.get(approval.session_id);
    const isNamed = lastSession === approval.session_id;
    told.set(approval.session_id, approval);
    lastSession = approval.session_id;
    if (!before || list.approvals.length < MANY) return approval;
    const since = { ...approval, ...changedSince(before, approval) };
    if ((approval.expires_in_secs ?? 0) < URGENT_SECS) return since;
    const { session_id, session_name, cwd, expires_in_secs, ...own } = brief(since);
    if (isNamed) return own;
    // A caller who sees the sessions of several owners may see the same name twice.
    return { ...own, session_name, ...(!isOnly(approval) && { session_id }) };
  });
}

/** Omits fields that equal those of the previous approval; `null` means that only the previous one had a value. */
function changedSince(before: Shared, approval: Shared): Pick<ToldApproval, keyof Shared> {
  const changes = SHARED.map((key) => [key, approval[key] === before[key] ? undefined : (approval[key] ?? null)]);
  return Object.fromEntries(changes);
}

/** Drops fields that an agent does not need to decide. `loopback_get` shows them. */
export function brief<T extends ToldApproval>({ tool_use_id, created_at, expires_at, status, ...approval }: T) {
  return approval;
}

async function fit<T extends ToldApproval>(
  { app, principal, known }: Reader,
  { approvals, hasMore }: ApprovalList,
  room: number,
  asShown: (approval: Approval) => T,
): Promise<Page<T>> {
  const share = Math.max(room / Math.min(approvals.length, MOST_SHARES), Math.min(room / 2, LEAST_SHARE_CHARS));
  const shown: T[] = [];
  const lastSaid = new Map<string, string>();
  let left = room;
  for (const approval of approvals) {
    // `no_rule` is left out: a caller who tries to remember anyway gets the reason.
    const { said = "", no_rule: _, ...told } = toldApproval(await app.approvalViews.show(approval, principal));
    // Left out if unchanged, and sent as an empty text if the child said nothing.
    const isSaid = said === (lastSaid.get(told.session_id) ?? "");
    const cut = cutAgain(asShown(isSaid ? told : { ...told, said }), known?.(approval.id), share);
    left -= listedChars(cut);
    if (left < 0 && shown.length > 0) break;
    shown.push(cut);
    lastSaid.set(told.session_id, said);
  }
  return { approvals: shown, has_more: hasMore || shown.length < approvals.length };
}

/** Cuts an approval to its share, or to its beginning if it is long and the caller has seen it before. */
function cutAgain<T extends ToldApproval>(approval: T, known: KnownRequest | undefined, share: number): T {
  if (!known?.isTold || JSON.stringify(approval).length <= LONG_CHARS) return cutApproval(approval, share);
  const cut = cutApproval(approval, RETOLD_CHARS);
  return known.isWhole ? { ...cut, told_before: true } : cut;
}

/** As many pending approvals as fit; `loopback_pending` has the others. */
export async function pendingIn(reader: Reader, list: ApprovalList) {
  const { approvals, has_more } = await fitApprovals(reader, list, MAX_PENDING_CHARS);
  return { pending_approvals: approvals, ...(has_more && { more_pending: true as const }) };
}

/** The same for an answer about one session, in the brief form. */
export async function pendingBriefly(reader: Reader, list: ApprovalList) {
  const { approvals, has_more } = await fitMany(reader, list, MAX_PENDING_CHARS);
  const shown = approvals.map(({ session_id, ...approval }) => brief(approval));
  return { pending_approvals: shown, ...(has_more && { more_pending: true as const }) };
}
