import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { SessionConfig } from "../../src/contract/sessions/session.ts";
import type { TokenRow } from "../../src/storage/sqlite/access/tokens.ts";
import type { ChainedOutcome, NewApproval } from "../../src/storage/sqlite/approvals/approvals.ts";
import type { SessionRow } from "../../src/storage/sqlite/sessions/sessions.ts";

/** A pending approval as storage takes it; what a test cares about is given. */
export function newApproval(given: Partial<NewApproval> = {}): NewApproval {
  return {
    id: Bun.randomUUIDv7(),
    sessionId: "session-1",
    sessionName: "one",
    approvalFromEvent: given.sessionId ?? "session-1",
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

/** So many sessions of the operator in this data dir, named s-1 and so on. */
export function addSessions(dataDir: string, count: number): void {
  using sqlite = new Database(join(dataDir, "plexus.db"));
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
  const row = "printf('%08d', n), 's-' || n, 'operator', 'by_hand', 1000";
  sqlite.run(`${numbers} INSERT INTO sessions (id, name, owner, kind, created_at) SELECT ${row} FROM numbers`);
}

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
    carrier: "http",
    metadata: {},
    ...given,
  };
}

export function newToken(given: Partial<TokenRow> = {}): TokenRow {
  return { id: Bun.randomUUIDv7(), kind: "named", name: "ci", sessionId: null, hash: "00", createdAt: 1_000, ...given };
}
