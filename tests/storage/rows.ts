import type { SessionConfig } from "../../src/contract/sessions/session.ts";
import type { TokenRow } from "../../src/storage/access.ts";
import type {
  ApprovalOutcome,
  ApprovalRow,
  NewApproval,
  PendingLimits,
  RuleOutcome,
} from "../../src/storage/approvals.ts";
import type { Judged, NewRule } from "../../src/storage/rules.ts";
import type { SessionRow } from "../../src/storage/sessions.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { NewTurn, TurnRow } from "../../src/storage/turns.ts";

type AnyApproval = NewApproval & Pick<ApprovalRow, "askedIn" | "askedSeq">;

/** A new approval for storage, with defaults for everything that isn't given. */
export function newApproval(given: Partial<AnyApproval> = {}): AnyApproval {
  return {
    id: Bun.randomUUIDv7(),
    sessionId: "session-1",
    sessionName: "one",
    askedIn: given.sessionId ?? "session-1",
    askedSeq: null,
    isInTurn: false,
    owner: "operator",
    toolName: "Bash",
    toolUseId: null,
    asker: null,
    input: { command: "true" },
    askHash: "ab".repeat(32),
    createdAt: 1_000,
    expiresAt: 301_000,
    ...given,
  };
}

export function outcome(given: Partial<ApprovalOutcome> = {}): ApprovalOutcome {
  return {
    status: "allowed",
    responseMessage: null,
    updatedInput: null,
    interrupt: false,
    resolvedAt: 2_000,
    resolvedBy: "operator",
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
    nextConfig: null,
    claudeSessionId: null,
    totalCostUsd: 0,
    ownCostUsd: 0,
    forkedFrom: null,
    originId: null,
    treeId: null,
    headNodeId: null,
    serversFrom: null,
    seenAt: null,
    ...given,
  };
}

/** Limits that no test reaches. */
export const ANY_NUMBER = { count: 1_000_000, bytes: 1e12 };
export const ANY_PENDING: PendingLimits = { asksPerSession: 1_000_000, bytesPerSession: 1e12, bytesInAll: 1e12 };

/** The decision of a built-in rule. */
export function builtinOutcome(rule = "read"): RuleOutcome {
  return { status: "allowed", responseMessage: null, interrupt: false, resolvedBy: `builtin:${rule}`, isBuiltin: true };
}

/** The decision of a stored rule. */
export function ruleOutcome(id: string, given: Partial<RuleOutcome> = {}): RuleOutcome {
  const allowed = { status: "allowed", responseMessage: null, interrupt: false } as const;
  return { ...allowed, resolvedBy: `rule:${id}`, isBuiltin: false, ...given };
}

/** A rule of the operator for all sessions, with defaults for everything that isn't given. */
export function newRule(given: Partial<NewRule> = {}): NewRule {
  return {
    id: Bun.randomUUIDv7(),
    owner: null,
    sessionId: null,
    isSetting: false,
    decision: "allow",
    match: "Bash(true)",
    reason: null,
    interrupt: false,
    mode: "live",
    createdBy: "operator",
    createdByName: "operator",
    createdAt: 1_000,
    expiresAt: null,
    usesLeft: null,
    fromApprovalId: null,
    ...given,
  };
}
export const ANY_RULES = { ofOwner: 1_000_000, inAll: 1_000_000 };

/** The evaluation of a call when there are no rules. */
export const UNRULED: Judged = { version: 0, used: [], counted: [], shadows: [] };

/** Begins a turn in this session; it runs at once. */
export async function runningTurn(
  storage: Pick<Storage, "turns" | "newId">,
  { id: sessionId }: Pick<SessionRow, "id">,
  given: Partial<NewTurn> = {},
): Promise<TurnRow> {
  const turn = { id: storage.newId(), ephemeral: false, startedAt: 1_000, prompt: "work", checkpoint: { offset: 0 } };
  const admission = { maxRunning: 1_000, limits: ANY_QUEUE, ownerToken: undefined, choice: undefined };
  const begun = await storage.turns.begin({ ...turn, sessionId, ...given }, admission);
  if (begun.outcome !== "running") throw new Error(`the turn did not begin: ${begun.outcome}`);
  return begun.turn;
}
export const ANY_QUEUE = { inAll: ANY_NUMBER, ofOne: ANY_NUMBER };

export function newConfig(given: Partial<SessionConfig> = {}): SessionConfig {
  return {
    working_dir: "/srv/project",
    add_dirs: [],
    model: null,
    system_prompt: null,
    loopback_enabled: true,
    loopback_timeout_secs: 300,
    supervision: "default",
    allowed_tools: [],
    disallowed_tools: [],
    mcp_servers: {},
    max_turns: null,
    max_budget_usd: null,
    carrier: "http",
    metadata: {},
    ...given,
  };
}

export function newToken(given: Partial<TokenRow> = {}): TokenRow {
  return {
    id: Bun.randomUUIDv7(),
    kind: "named",
    name: "ci",
    sessionId: null,
    hash: "00",
    createdAt: 1_000,
    grant: null,
    usedAt: null,
    ...given,
  };
}
