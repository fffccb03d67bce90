import type { Principal } from "../../app.ts";
import { APPROVAL_TOOLS } from "./approval-tools.ts";
import { CONVERSATION_TOOLS } from "./conversation-tools.ts";
import { CHILD_PERMIT, OPERATOR_PERMIT } from "./permit-tool.ts";
import { SESSION_TOOLS } from "./session-tools.ts";
import type { Tool } from "./tool.ts";
import { TURN_TOOLS } from "./turn-tools.ts";

/** The tools of those who start children and decide what they may do. */
export const PARENT_TOOLS = [...APPROVAL_TOOLS, ...SESSION_TOOLS, ...TURN_TOOLS, ...CONVERSATION_TOOLS];

/** Which tools there are for whom. */
export const TOOLS: Record<Principal["kind"], readonly Tool[]> = {
  operator: [...PARENT_TOOLS, OPERATOR_PERMIT],
  token: PARENT_TOOLS,
  session: [CHILD_PERMIT],
};
