import type { Approval } from "./approvals/approval.ts";
import type { Rule } from "./rules/rule.ts";

/** Shared examples for routes and tools: one session, its turn, and one of its requests. */
export const SESSION_ID = "01a1e2f0-0c9a-76a2-b5de-299c25bd01ac";
export const TURN_ID = "01a1e2f0-0cc7-750b-9526-ecfe11228f36";
export const APPROVAL_ID = "01a1e2f0-1279-72c5-be7a-33ff4c1ca52d";
export const TREE_ID = "01a1e2f0-0c9a-76a1-9acc-a51cb81246af";
export const ROOT_ID = "01a1e2f0-0c9a-76a0-9791-6c78ebdfcdfd";
export const NODE_ID = "01a1e2f0-1a7b-759d-83e7-54a366dd0698";
/** The head of a new conversation, and a later one. */
export const FIRST_HEAD = { tree_id: TREE_ID, node_id: ROOT_ID };
export const HEAD = { tree_id: TREE_ID, node_id: NODE_ID };
export const TOOL_USE_ID = "toolu_ce63130d77934b9b";
export const ASKED_AT = 1_794_808_746;

export const INPUT = { command: "touch hello.txt" };

/** A request as agents see it. */
export const PENDING = {
  id: APPROVAL_ID,
  session_id: SESSION_ID,
  session_name: "worker",
  tool_name: "Bash",
  tool_use_id: TOOL_USE_ID,
  input: INPUT,
  status: "pending",
  created_at: ASKED_AT,
  expires_at: ASKED_AT + 300,
  expires_in_secs: 299,
  cwd: "/srv/project",
  said: "I make the file now.",
} satisfies Approval;

export const RULE_ID = "01a1e2f0-2b1f-7a3c-8d54-0d7e1f6a9b3c";
/** A rule created from a decision. */
export const RULE = {
  id: RULE_ID,
  decision: "allow",
  match: "Bash(touch *)",
  tier: "session",
  mode: "live",
  owner: "operator",
  session_id: SESSION_ID,
  created_by: "operator",
  created_at: ASKED_AT,
  from_approval_id: APPROVAL_ID,
  hits: 59,
  last_hit_at: ASKED_AT + 60,
} satisfies Rule;

/** The same as the REST API shows it. */
export const PENDING_RECORD: Approval = {
  ...PENDING,
  response_message: null,
  updated_input: null,
  resolved_at: null,
  resolved_by: null,
};
