import { approvals } from "../tables.ts";

export type ApprovalRow = typeof approvals.$inferSelect;
/** All that is small: an input may be megabytes, and deciding needs none of it. */
export type ApprovalHead = Pick<
  ApprovalRow,
  | "id"
  | "sessionId"
  | "sessionName"
  | "approvalFromEvent"
  | "owner"
  | "toolName"
  | "toolUseId"
  | "asker"
  | "askHash"
  | "status"
  | "createdAt"
  | "expiresAt"
  | "resolvedAt"
  | "resolvedBy"
  | "deliveredAt"
  | "isBuiltin"
>;

/** The columns of a head. */
export const head = {
  id: approvals.id,
  sessionId: approvals.sessionId,
  sessionName: approvals.sessionName,
  approvalFromEvent: approvals.approvalFromEvent,
  owner: approvals.owner,
  toolName: approvals.toolName,
  toolUseId: approvals.toolUseId,
  asker: approvals.asker,
  askHash: approvals.askHash,
  status: approvals.status,
  createdAt: approvals.createdAt,
  expiresAt: approvals.expiresAt,
  resolvedAt: approvals.resolvedAt,
  resolvedBy: approvals.resolvedBy,
  deliveredAt: approvals.deliveredAt,
  isBuiltin: approvals.isBuiltin,
};
