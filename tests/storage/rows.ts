import type { ChainedOutcome, NewApproval } from "../../src/storage/approvals.ts";
import type { SessionRow } from "../../src/storage/sessions.ts";
import type { TokenRow } from "../../src/storage/tokens.ts";

/** A pending approval as storage takes it; what a test cares about is given. */
export function newApproval(given: Partial<NewApproval> = {}): NewApproval {
  return {
    id: Bun.randomUUIDv7(),
    sessionId: "session-1",
    sessionName: "one",
    askedIn: given.sessionId ?? "session-1",
    owner: "operator",
    toolName: "Bash",
    toolUseId: null,
    asker: null,
    input: { command: "true" },
    askHash: "hash",
    createdAt: 1_000,
    expiresAt: 301_000,
    ...given,
  };
}

export function outcome(given: Partial<ChainedOutcome> = {}): ChainedOutcome {
  return {
    status: "allowed",
    responseMessage: null,
    updatedInput: null,
    interrupt: false,
    resolvedAt: 2_000,
    resolvedBy: "operator",
    deliveredAt: null,
    auditSeq: null,
    ...given,
  };
}

export function newSession(given: Partial<SessionRow> = {}): SessionRow {
  return {
    id: Bun.randomUUIDv7(),
    name: "one",
    owner: "operator",
    kind: "by_hand",
    loopbackTimeoutSecs: null,
    createdAt: 1_000,
    config: null,
    claudeSessionId: null,
    totalCostUsd: 0,
    forkedFrom: null,
    treeId: null,
    headNodeId: null,
    serversFrom: null,
    ...given,
  };
}

export function newToken(given: Partial<TokenRow> = {}): TokenRow {
  return { id: Bun.randomUUIDv7(), kind: "named", name: "ci", sessionId: null, hash: "00", createdAt: 1_000, ...given };
}
