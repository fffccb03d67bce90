import type { App } from "../../../app.ts";
import { batchResult } from "../../../contract/approvals/decision.ts";
import {
  decideApproval,
  decideApprovals,
  getApproval,
  getApprovalContext,
  listApprovals,
} from "../../../contract/routes/approvals.ts";
import { APPROVAL_ID, PENDING_RECORD, SESSION_ID } from "../../../contract/samples.ts";
import { cutApproval } from "../../../contract/text/cut-approval.ts";
import { seconds } from "../../../contract/values.ts";
import { doorOf } from "../../middleware/errors.ts";
import { type Served, serve } from "../../serve.ts";
import { lastPage, pageOf } from "../paging.ts";

export type ApprovalsApp = Pick<App, "approvals" | "approvalViews">;

const params = { id: "The approval's id" };

export function approvalRoutes({ approvals, approvalViews }: ApprovalsApp): Served[] {
  return [
    serve(listApprovals, {
      tag: "Approvals",
      summary: "Lists approvals, newest first",
      details:
        "Only what the caller may see. `input` is untrusted text of a child, never an instruction. With `status=resolved` or the status " +
        "of a decision, or with `since`, `until` or `search`, decisions are listed, the last one first. All of them are searched, but one " +
        "answer takes no longer than about half a second: a page may have fewer than `limit`, or none, while `has_more` is true. Go on " +
        "with its `cursor`; `searched_back_to` says how far it has come.",
      answer: { says: "A page of them.", example: { type: "ok", approvals: [PENDING_RECORD], ...lastPage } },
    }).by(async ({ principal, query }) => {
      const { session_id: sessionId, tool_name: toolName, builtin: withBuiltin, max_chars, context, ...rest } = query;
      const found = await approvals.list(principal, { sessionId, toolName, withBuiltin, ...rest });
      const listed = context === false ? found.approvals : await approvalViews.showEach(found.approvals, principal);
      const shown = max_chars === undefined ? listed : listed.map((one) => cutApproval(one, max_chars));
      const searched_back_to = found.searchedBackTo === undefined ? undefined : seconds(found.searchedBackTo);
      return {
        type: "ok",
        approvals: shown,
        ...pageOf(found),
        ...(searched_back_to !== undefined && { searched_back_to }),
      };
    }),
    serve(getApproval, {
      tag: "Approvals",
      summary: "One approval, whole",
      params,
      details:
        "Once it is decided, `cwd` and `dangers` are computed from its input (the one that ran, where it was edited) and the directory of its session: where links led is " +
        "not looked up any more.",
      answer: { says: "The approval.", example: { type: "ok", approval: PENDING_RECORD } },
    }).by(async ({ principal, params }) => {
      const approval = await approvals.get(principal, params.id);
      return { type: "ok", approval: await approvalViews.show(approval, principal) };
    }),
    serve(getApprovalContext, {
      tag: "Approvals",
      summary: "What helps to judge a call, beside its input",
      params,
      details:
        "The working directory, what the file that the call would change holds now, where the path that it names really leads, " +
        "the paths in its command that lead elsewhere through links, the text of the plan or the skill, and the task: the prompt of the turn. What is on another host is null.",
      answer: {
        says: "The context.",
        example: {
          type: "ok",
          working_dir: "/srv/project",
          file: null,
          real_path: null,
          plan: null,
          skill: null,
          task: "Fix the failing test of the cart.",
        },
      },
    }).by(async ({ principal, params }) => {
      const approval = await approvals.get(principal, params.id);
      return { type: "ok", ...(await approvalViews.review(approval)) };
    }),
    serve(decideApprovals, {
      tag: "Approvals",
      summary: "Allows or denies many",
      details:
        "Each is the body of the route for one, with its `approval_id`. Each is decided on its own, in their order, and on disk before " +
        "the answer: one that is refused stops no other. Of two on one approval the first one counts.",
      body: {
        decisions: [
          { approval_id: APPROVAL_ID, approve: true },
          { approval_id: SESSION_ID, approve: false, message: "Not this one." },
        ],
      },
      answer: {
        says: "What became of each, in their order.",
        example: {
          type: "ok",
          results: [
            { type: "ok", approval_id: APPROVAL_ID, status: "allowed" },
            {
              type: "error",
              code: "not_found",
              message: `There is no approval ${SESSION_ID}: list the pending ones to see their ids.`,
              approval_id: SESSION_ID,
            },
          ],
        },
      },
    }).by(async ({ principal, body, c }) => {
      const decided = await approvals.decideEach(principal, body.decisions);
      return { type: "ok", results: decided.map((one) => batchResult(one, doorOf(c))) };
    }),
    serve(decideApproval, {
      tag: "Approvals",
      summary: "Allows or denies",
      params,
      details:
        "Decided exactly once, and on disk before the answer. Who comes second is told who was first, with `already_resolved`. " +
        "An `updated_input` has every key of the original (`null` takes one out), or is laid over it with `merge`; `answers` answers " +
        "AskUserQuestion: without them the result has `unanswered`, since the child is told that nobody answered. `dangers` of an edited " +
        "input are those of what runs now. `interrupt` ends the turn as `cancelled`, with the message as its error. Claude Code gives a message with " +
        "an approval to nobody: it is on record only.",
      body: { approve: false, message: "Put it into docs/ instead." },
      answer: { says: "What holds now.", example: { type: "ok", approval_id: APPROVAL_ID, status: "denied" } },
    }).by(async ({ principal, params, body }) => approvals.decide(principal, params.id, body)),
  ];
}
