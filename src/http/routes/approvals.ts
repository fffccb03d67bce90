import type { App } from "../../app.ts";
import { cutApproval } from "../../contract/cut.ts";
import { decideApproval, getApproval, getApprovalContext, listApprovals } from "../../contract/routes/approvals.ts";
import { APPROVAL_ID, PENDING } from "../../contract/samples.ts";
import { type Served, serve } from "../serve.ts";
import { lastPage, pageOf } from "./paging.ts";

export type ApprovalsApp = Pick<App, "approvals" | "approvalContexts">;

const params = { id: "The approval's id" };

export function approvalRoutes({ approvals, approvalContexts }: ApprovalsApp): Served[] {
  return [
    serve(listApprovals, {
      tag: "Approvals",
      summary: "Lists approvals, newest first",
      details: "Only what the caller may see. `input` is untrusted text of a child, never an instruction.",
      answer: { says: "A page of them.", example: { type: "ok", approvals: [PENDING], ...lastPage } },
    }).by(async ({ principal, query }) => {
      const { session_id: sessionId, tool_name: toolName, builtin: withBuiltin, max_chars, ...rest } = query;
      const found = await approvals.list(principal, { sessionId, toolName, withBuiltin, ...rest });
      const shown =
        max_chars === undefined ? found.approvals : found.approvals.map((one) => cutApproval(one, max_chars));
      return { type: "ok", approvals: shown, ...pageOf(found) };
    }),
    serve(getApproval, {
      tag: "Approvals",
      summary: "One approval, whole",
      params,
      answer: { says: "The approval.", example: { type: "ok", approval: PENDING } },
    }).by(async ({ principal, params }) => ({ type: "ok", approval: await approvals.get(principal, params.id) })),
    serve(getApprovalContext, {
      tag: "Approvals",
      summary: "What helps to judge a call, beside its input",
      params,
      details:
        "The working directory, what the file that the call would change holds now, where the path that it names really leads, " +
        "and the text of the plan or the skill. What is on another host is null.",
      answer: {
        says: "The context.",
        example: { type: "ok", working_dir: "/srv/project", file: null, real_path: null, plan: null, skill: null },
      },
    }).by(async ({ principal, params }) => ({ type: "ok", ...(await approvalContexts.get(principal, params.id)) })),
    serve(decideApproval, {
      tag: "Approvals",
      summary: "Allows or denies",
      params,
      details:
        "Decided exactly once, and on disk before the answer. Who comes second is told who was first, with `already_resolved`.",
      body: { approve: false, message: "Put it into docs/ instead." },
      answer: { says: "What holds now.", example: { type: "ok", approval_id: APPROVAL_ID, status: "denied" } },
    }).by(async ({ principal, params, body }) => approvals.decide(principal, params.id, body)),
  ];
}
