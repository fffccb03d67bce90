import type { Approval } from "./approvals/approval.ts";

/** What the examples of routes and tools have in common: one session, its turn, and one request in it. */
export const SESSION_ID = "01a1e2f0-0c9a-76a2-b5de-299c25bd01ac";
export const TURN_ID = "01a1e2f0-0cc7-750b-9526-ecfe11228f36";
export const APPROVAL_ID = "01a1e2f0-1279-72c5-be7a-33ff4c1ca52d";
export const TREE_ID = "01a1e2f0-0c9a-76a1-9acc-a51cb81246af";
export const ROOT_ID = "01a1e2f0-0c9a-76a0-9791-6c78ebdfcdfd";
export const NODE_ID = "01a1e2f0-1a7b-759d-83e7-54a366dd0698";
/** Where a conversation stands when it has just begun, and later. */
export const FIRST_HEAD = { tree_id: TREE_ID, node_id: ROOT_ID };
export const HEAD = { tree_id: TREE_ID, node_id: NODE_ID };
export const TOOL_USE_ID = "toolu_ce63130d77934b9b";
export const ASKED_AT = 1_794_808_746;

export const INPUT = { command: "touch hello.txt" };

export const PENDING: Approval = {
  id: APPROVAL_ID,
  session_id: SESSION_ID,
  session_name: "worker",
  tool_name: "Bash",
  tool_use_id: TOOL_USE_ID,
  input: INPUT,
  status: "pending",
  response_message: null,
  updated_input: null,
  created_at: ASKED_AT,
  expires_at: ASKED_AT + 300,
  resolved_at: null,
  resolved_by: null,
};
