import { approvals } from "../tables.ts";

/** The columns of an `ApprovalHead`. */
export const head = {
  id: approvals.id,
  sessionId: approvals.sessionId,
  sessionName: approvals.sessionName,
  askedIn: approvals.askedIn,
  askedSeq: approvals.askedSeq,
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
