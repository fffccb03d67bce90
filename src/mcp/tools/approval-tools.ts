import {
  type Approval,
  ConfigureInput,
  GetInput,
  OperatorPermitInput,
  PendingInput,
  PermitInput,
  RespondInput,
  WaitInput,
} from "../../contract/approvals/approval.ts";
import { cutApproval, MAX_RESULT_CHARS } from "../../contract/cut.ts";
import type { JsonObject } from "../../contract/values.ts";
import { configureSession } from "./configure.ts";
import { fitApprovals } from "./results.ts";
import { type RunnableTool, type Tool, tool } from "./tool.ts";

/** More than a result can hold of even the smallest approvals. */
const MAX_LISTED = 200;
const DEFAULT_WAIT_SECS = 45;

export const PERMIT = "loopback_permit";

/** The tools of those who decide. */
export const DECIDER_TOOLS: RunnableTool[] = [
  tool({
    name: "loopback_wait",
    title: "Wait for something to decide",
    description:
      "Waits until a child of yours asks for permission or ends its turn, and returns at once when an ask is already pending. " +
      "This is how you learn of new asks: notifications do not wake you. Call it in a loop, passing the returned cursor as since.",
    input: WaitInput,
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["approvals", "finished"],
    async run({ app, principal, signal }, { session_id, since, timeout_secs }) {
      const sessionId = session_id && (await app.sessions.require(principal, session_id)).id;
      const timeoutMs = (timeout_secs ?? DEFAULT_WAIT_SECS) * 1000;
      const { cursor, finished, ...listed } = await app.eventFeed.wait(principal, {
        sessionId,
        since,
        timeoutMs,
        limit: MAX_LISTED,
        signal,
      });
      if (listed.approvals.length === 0 && finished.length === 0) {
        return {
          type: "timeout",
          cursor,
          next: "Nothing to decide yet. Call loopback_wait again with cursor as since.",
        };
      }
      const next = "Decide each with loopback_respond, then call loopback_wait with cursor as since.";
      return { type: "ok", ...fitApprovals(listed, MAX_RESULT_CHARS - 15_000), finished, cursor, next };
    },
  }),
  tool({
    name: "loopback_pending",
    title: "List what waits for a decision",
    description: "Lists the asks of your children that wait for a decision, oldest first.",
    input: PendingInput,
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["approvals"],
    async run({ app, principal }, { session_id }) {
      const sessionId = session_id && (await app.sessions.require(principal, session_id)).id;
      const listed = fitApprovals(await app.approvals.pending(principal, sessionId, MAX_LISTED));
      const next =
        listed.approvals.length === 0
          ? "Nothing waits. Call loopback_wait to learn of the next ask."
          : "Decide each with loopback_respond.";
      return { type: "ok", ...listed, next };
    },
  }),
  tool({
    name: "loopback_respond",
    title: "Allow or deny one tool call",
    description:
      "Decides one ask, exactly once: allow it as it is, allow it with another input (updated_input, the whole object), or deny it " +
      "with a message that tells the child why and what to do instead. Somebody may be faster than you: then type is " +
      "already_resolved, and status and resolved_by tell what was decided. Allow only what you understand and want.",
    input: RespondInput,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    async run({ app, principal }, { approval_id, ...decision }) {
      const answer = await app.approvals.decide(principal, approval_id, decision);
      const next =
        answer.type === "ok"
          ? "Recorded; the child has its answer. Call loopback_wait for what comes next."
          : "Decided before you; your decision was not used. Call loopback_wait for what comes next.";
      return { ...answer, next };
    },
  }),
  tool({
    name: "loopback_get",
    title: "Read one ask in full",
    description:
      "Reads one ask, decided or not. An input too long for one result is cut (truncated: true, input_size): with offset and " +
      "length this returns that part of the input's JSON text instead.",
    input: GetInput,
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["approval", "text"],
    async run({ app, principal }, { approval_id, offset, length }) {
      const approval = await app.approvals.get(principal, approval_id);
      if (offset !== undefined || length !== undefined) return slice(approval, offset ?? 0, length ?? 30_000);
      const shown = cutApproval(approval, MAX_RESULT_CHARS - 1_000);
      const decide = approval.status === "pending" ? "Decide it with loopback_respond." : "It is decided.";
      const rest = shown.truncated ? " Read what was left out with offset and length." : "";
      return { type: "ok", approval: shown, next: `${decide}${rest}${removedNote(approval)}` };
    },
  }),
  tool({
    name: "loopback_configure",
    title: "Supervise a claude that is started by hand",
    description:
      "Makes a session for a Claude Code CLI that somebody starts by hand, and returns what that needs: mcp_config, to be written " +
      "to a file that only its user can read (it holds a token), and args for the command line. Its asks then come to you.",
    input: ConfigureInput,
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    async run({ app, principal }, asked) {
      const configured = await configureSession(app, principal, asked);
      const next =
        "Write mcp_config to a file with mode 0600, then start: claude -p --mcp-config FILE, args, and the prompt. " +
        "Then call loopback_wait.";
      return { type: "ok", ...configured, next };
    },
  }),
];

const PERMIT_DESCRIPTION =
  "Asks for permission to use a tool, and blocks until somebody has decided. For Claude Code's --permission-prompt-tool.";
const PERMIT_ANNOTATIONS = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** Answered by the permit's own stream, not by the SDK: a listing is all that these are. */
export const CHILD_PERMIT: Tool = {
  name: PERMIT,
  title: "Ask for permission",
  description: PERMIT_DESCRIPTION,
  input: PermitInput,
  annotations: PERMIT_ANNOTATIONS,
};
export const OPERATOR_PERMIT: Tool = {
  ...CHILD_PERMIT,
  description: `${PERMIT_DESCRIPTION} As the operator, name the session to ask for with session_id, to try things out.`,
  input: OperatorPermitInput,
};

/** Clients and model APIs rewrite dots: both spellings name the same tool. */
export function canonicalName(name: string): string {
  return name.replaceAll(".", "_");
}

function slice(approval: Approval, offset: number, length: number): JsonObject {
  const json = JSON.stringify(approval.input);
  let text = json.slice(offset, offset + length);
  // Escaped once more on its way out, the text may grow beyond what a result can carry.
  while (JSON.stringify(text).length > MAX_RESULT_CHARS - 1_000) text = text.slice(0, Math.floor(text.length * 0.75));
  const end = offset + text.length;
  const has_more = end < json.length;
  const go = has_more ? "Go on with offset + length as offset." : "That was the end.";
  const next = `${go}${removedNote(approval)}`;
  return {
    type: "ok",
    approval_id: approval.id,
    text,
    offset,
    length: text.length,
    total: json.length,
    has_more,
    next,
  };
}

function removedNote({ input_removed_at }: Approval): string {
  return input_removed_at === undefined ? "" : " Its input was removed to save space.";
}
