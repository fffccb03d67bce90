import type { Principal } from "../../app.ts";
import { APPROVAL_TOOLS } from "./approval-tools.ts";
import { CHAT_TOOLS } from "./chat-tools.ts";
import { CONVERSATION_TOOLS } from "./conversation-tools.ts";
import type { Tool } from "./declaration/tool.ts";
import { CHILD_PERMIT, OPERATOR_PERMIT } from "./permit-tool.ts";
import { RESPOND_TOOL } from "./respond-tool.ts";
import { RULE_TOOLS } from "./rule-tools.ts";
import { SESSION_TOOLS } from "./session-tools.ts";
import { TURN_TOOLS } from "./turn-tools.ts";
import { WAIT_TOOL } from "./wait-tool.ts";

/** The tools of callers who start children and decide their requests. */
export const PARENT_TOOLS = [
  WAIT_TOOL,
  RESPOND_TOOL,
  ...APPROVAL_TOOLS,
  ...RULE_TOOLS,
  ...CHAT_TOOLS,
  ...SESSION_TOOLS,
  ...TURN_TOOLS,
  ...CONVERSATION_TOOLS,
];

/** The tools of each kind of principal. */
export const TOOLS: Record<Principal["kind"], readonly Tool[]> = {
  operator: [...PARENT_TOOLS, OPERATOR_PERMIT],
  token: PARENT_TOOLS,
  session: [CHILD_PERMIT],
};
