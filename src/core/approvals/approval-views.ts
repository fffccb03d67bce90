import type { Approval, RequestContext } from "../../contract/approvals/approval.ts";
import type { ApprovalContext } from "../../contract/approvals/approval-context.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { cutText } from "../../contract/text/cut-text.ts";
import { type JsonObject, seconds } from "../../contract/values.ts";
import { approvalFromEvent } from "../../review/approval-event.ts";
import { dangersOf } from "../../review/dangers.ts";
import type { DiffEffort, FileDiff } from "../../review/diff.ts";
import { kindOf } from "../../review/kinds.ts";
import { realPathsOf } from "../../review/real-paths.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Principal } from "../access/principals.ts";
import type { DecisionRules } from "../rulebook/decision-rules.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { ContextOf } from "./context/approval-context.ts";

const AT_ONCE = 20;
const MAX_DANGERS = 8;
const MAX_DANGER_CHARS = 200;
const MAX_PATH_CHARS = 500;
const MAX_DIFF_CHARS = 12_000;
/** Longer inputs get no diff: nobody reads one that long, and computing it blocks the event loop. */
const MAX_COMPARED_CHARS = 1024 * 1024;
/** Computing a diff blocks the event loop, so it gets less time here than in the web page. */
const EFFORT: DiffEffort = { timeoutMs: 100, marksWords: false };

export type ApprovalViews = ReturnType<typeof createApprovalViews>;
type ApprovalViewsNeed = {
  sessions: Pick<Sessions, "get">;
  decisionRules: Pick<DecisionRules, "rememberedBy" | "whyAsked" | "escalates">;
  storage: { approvals: Pick<Storage["approvals"], "head"> };
  contextOf: ContextOf;
  now: () => number;
};

/** Adds to approvals what helps to decide them, so that an agent sees what a person sees. */
export function createApprovalViews({ storage, sessions, decisionRules, contextOf, now }: ApprovalViewsNeed) {
  /**
   * The suggested rule, why no existing rule decided the call, and whether the reader's grant is too narrow to allow
   * it.
   */
  async function ruled(approval: Approval, reader: Principal | undefined) {
    const session = await sessions.get(approval.session_id);
    if (!session) return {};
    const { tool_name, input } = approval;
    const remembered = await decisionRules.rememberedBy(session, { tool_name, input });
    const why_asked = await decisionRules.whyAsked(session, { tool_name, input });
    const escalates = reader !== undefined && (await decisionRules.escalates(reader, session, { tool_name, input }));
    return {
      ...remembered,
      ...(why_asked !== undefined && { why_asked }),
      ...(escalates && { escalates: true as const }),
    };
  }

  async function about(approval: Approval, withFile: boolean, reader: Principal | undefined) {
    const { context, leadUp } = await contextOf(approval, { withFile });
    const realPaths = realPathsOf(approval, context);
    const known: RequestContext = {
      ...placeAndDangers(approval, context),
      ...leadUp,
      ...(realPaths.length > 0 && { real_paths: realPaths.map((path) => cutText(path, MAX_PATH_CHARS)) }),
      ...(await ruled(approval, reader)),
    };
    return { context, known };
  }

  function withTime(approval: Approval, known: RequestContext): Approval {
    const expires_in_secs = Math.max(0, approval.expires_at - seconds(now()));
    return { ...approval, expires_in_secs, ...known };
  }

  async function listed(approval: Approval, reader: Principal): Promise<Approval> {
    if (approval.status !== "pending") return approval;
    return withTime(approval, (await about(approval, false, reader)).known);
  }

  /**
   * Adds the working directory and the dangers that the input alone shows; of an edited request, the input that ran.
   * Links are not followed: they may have changed since.
   */
  async function decided(approval: Approval): Promise<Approval> {
    const ran = { ...approval, input: approval.updated_input ?? approval.input };
    return { ...approval, ...placeAndDangers(ran, (await contextOf(ran, { withFile: false })).context) };
  }

  return {
    /** Adds context to the event of a request that is still pending; returns any other event unchanged. */
    async withContext(event: ChangeEvent): Promise<ChangeEvent> {
      if (event.type !== "approval_requested") return event;
      const isPending = (await storage.approvals.head(event.approval_id))?.status === "pending";
      return isPending ? { ...event, ...(await about(approvalFromEvent(event), false, undefined)).known } : event;
    },

    /** One approval, decided or not. */
    show: (approval: Approval, reader: Principal): Promise<Approval> =>
      approval.status === "pending" ? listed(approval, reader) : decided(approval),

    /**
     * Works through the list in sequence and yields to the event loop in between. Decided approvals are returned
     * unchanged.
     */
    async showEach(approvals: Approval[], reader: Principal): Promise<Approval[]> {
      const shown: Approval[] = [];
      for (const approval of approvals) {
        if (shown.length % AT_ONCE === AT_ONCE - 1) await new Promise(setImmediate);
        shown.push(await listed(approval, reader));
      }
      return shown;
    },

    /** One approval with the diff to the current file. */
    async showWhole(approval: Approval, reader: Principal): Promise<Approval> {
      if (approval.status !== "pending") return decided(approval);
      const { context, known } = await about(approval, true, reader);
      const diff = await diffIn(approval, context);
      return { ...withTime(approval, known), ...(diff !== undefined && { diff }) };
    },

    /** The dangers of a pending request if its input were this one. */
    async dangersOfEdit(approval: Approval, input: JsonObject): Promise<NonNullable<RequestContext["dangers"]>> {
      const edited = { ...approval, input };
      return shownDangers(edited, (await contextOf(edited, { withFile: false })).context);
    },

    /** The context with which the web page and the terminal show an approval. */
    review: async (approval: Approval): Promise<ApprovalContext> =>
      (await contextOf(approval, { withFile: true })).context,
  };
}

function placeAndDangers(approval: Approval, context: ApprovalContext): RequestContext {
  const dangers = shownDangers(approval, context);
  return {
    ...(context.working_dir !== null && { cwd: cutText(context.working_dir, MAX_PATH_CHARS) }),
    ...(dangers.length > 0 && { dangers }),
  };
}

/** At most MAX_DANGERS; a last entry counts the rest. */
function shownDangers(approval: Approval, context: ApprovalContext): NonNullable<RequestContext["dangers"]> {
  const dangers = approval.input_removed_at === undefined ? dangersOf(approval, context) : [];
  const shown = dangers.slice(0, MAX_DANGERS).map(({ rule, message }) => ({
    code: rule,
    text: cutText(message, MAX_DANGER_CHARS),
  }));
  const more = dangers.length - shown.length;
  return more > 0 ? [...shown, { code: "more", text: `has ${more} more dangers like these` }] : shown;
}

/** The diff of a write or an edit; `undefined` for any other call. */
async function diffIn(approval: Approval, { file }: ApprovalContext): Promise<string | undefined> {
  const kind = kindOf(approval);
  if (kind.kind !== "write" && kind.kind !== "edit") return undefined;
  const size = JSON.stringify(approval.input).length;
  if (size > MAX_COMPARED_CHARS) return `(an input of ${size} characters is too long to compare)`;
  // Loaded on first use, to keep the diff library out of the start.
  const { diffOfEdits, diffOfWrite, diffText } = await import("../../review/diff.ts");
  const diff = kind.kind === "write" ? diffOfWrite(kind.content, file, EFFORT) : diffOfEdits(kind.edits, file, EFFORT);
  if (kind.kind === "write" && isContent(diff))
    return `${diffText({ ...diff, hunks: [] })}: its lines are those of content`;
  return cutText(diffText(diff), MAX_DIFF_CHARS);
}

/** Nothing is replaced: the diff would only repeat what is to be written. */
function isContent({ hunks, added }: FileDiff): boolean {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return lines.length === added && lines.every(({ sign }) => sign === "+");
}
