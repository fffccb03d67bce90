import type { z } from "zod";
import type { ANSWERS, AnswerName, BODIES, BodyName } from "./answers.ts";

const id = "0198c5a2-7d1e-7c3a-9a51-0c5b2f7d9e10";
const session_id = "0198c5a1-52b0-7f4e-8d0a-6b9f1c2d3e4f";
const turn_id = "0198c5a2-1111-7abc-8def-0123456789ab";
const head = { tree_id: "0198c5a1-52b0-7aaa-8bbb-1c1c1c1c1c1c", node_id: "0198c5a1-52b0-7ccc-8ddd-2d2d2d2d2d2d" };
const usage = { input_tokens: 1200, output_tokens: 340, cost_usd: 0.021, num_turns: 3 };
const page = { has_more: false, cursor: null };
const asked = { tool_name: "Bash", tool_use_id: "toolu_01" };

const Approval = {
  id,
  session_id,
  session_name: "builder",
  ...asked,
  input: { command: "npm test", description: "Run the tests" },
  status: "pending",
  response_message: null,
  updated_input: null,
  created_at: 1787000000,
  expires_at: 1787000300,
  resolved_at: null,
  resolved_by: null,
} as const;
const ApprovalContext = { working_dir: "/srv/project", file: null, real_path: null, plan: null, skill: null };
const SessionSummary = {
  id: session_id,
  name: "builder",
  kind: "managed",
  status: "awaiting_permission",
  working_dir: "/srv/project",
  created_at: 1786999000,
  owner: "operator",
  cost_usd: 0.14,
  claude_session_id: null,
  last_turn: { id: turn_id, status: "awaiting_permission", started_at: 1786999990, ended_at: null },
  pending: 1,
} as const;
const SessionDetail = {
  id: session_id,
  name: "builder",
  kind: "managed",
  status: "idle",
  head,
  claude_session_id: null,
  total_cost_usd: 0,
  created_at: 1786999000,
  working_dir: "/srv/project",
  supervision: "default",
} as const;
const TurnSummary = {
  turn_id,
  session_id,
  status: "complete",
  event_count: 12,
  started_at: 1786999990,
  ended_at: 1787000020,
  error: null,
  usage,
  unasked: 0,
  ephemeral: false,
} as const;
const ChangeEvent = {
  type: "approval_requested",
  approval_id: id,
  session_name: "builder",
  ...asked,
  tool_input: { command: "npm test" },
  session_id,
  created_at: 1787000000,
  expires_at: 1787000300,
} as const;
const TurnEvent = { type: "content", text: "The tests pass." } as const;
const SessionEvent = { turn_id, seq: 4, event: TurnEvent };
const NamedToken = { id: "hZ3kq0Tn-xYz", name: "ci", created_at: 1786990000 };

const UnaskedCall = {
  id,
  session_id,
  session_name: "builder",
  turn_id,
  tool_name: "Bash",
  tool_use_id: "toolu_01",
  tool_input: { command: "npm test" },
  supervision: "inherit",
  at: 1787000010,
} as const;
const AuditLine = {
  chain: "decisions",
  seq: 0,
  previous: "0".repeat(64),
  hash: "0a".repeat(32),
  entry: '{"kind":"begins","at":1787000000000,"chained_since":1787000000000,"unchained":0}',
} as const;

/** One of each; a test holds them against their schemas. */
export const EXAMPLES = {
  Decision: { approve: false, message: "Run only the tests of src/http." },
  NewSession: { name: "builder", working_dir: "/srv/project", supervision: "strict" },
  Chat: { prompt: "Make the tests pass.", wait_secs: 60 },
  Fork: { new_name: "builder-2" },
  NewToken: { name: "ci" },
  SignIn: { code: "k3J9vQ2mXw" },
  Error: {
    error: { code: "not_found", message: `There is no approval ${id}: list the pending ones to see their ids.` },
  },
  Approval,
  ApprovalStatus: "pending",
  ApprovalContext,
  ApprovalContextAnswer: { type: "ok", ...ApprovalContext },
  ApprovalList: { type: "ok", approvals: [Approval], ...page },
  OneApproval: { type: "ok", approval: Approval },
  UnaskedCall,
  UnaskedCallList: { type: "ok", calls: [UnaskedCall], ...page },
  AuditReport: {
    type: "ok",
    intact: true,
    chains: [
      {
        chain: "decisions",
        entries: 1,
        head: { seq: 0, hash: AuditLine.hash },
        forgotten_through: -1,
        chained_since: 1787000000000,
        first_at: 1787000000000,
        head_at: 1787000000000,
      },
    ],
    problems: [],
    has_more_problems: false,
  },
  AuditLine,
  Decided: { type: "ok", approval_id: id, status: "denied" },
  ChangeEvent,
  SessionSummary,
  SessionList: { type: "ok", sessions: [SessionSummary], ...page },
  SessionDetail,
  OneSession: { type: "ok", config: SessionDetail },
  SessionCreated: { type: "created", id: session_id, name: "builder", head },
  SessionDeleted: { type: "deleted", id: session_id },
  SessionForked: { type: "forked", id: session_id, head },
  TurnStarted: { type: "started", session_id, turn_id },
  Usage: usage,
  TurnAnswer: {
    type: "ok",
    session_id,
    turn_id,
    status: "complete",
    text: "The tests pass.",
    error: null,
    pending_approvals: [],
    usage,
  },
  Cancelled: { type: "cancelled", session_id },
  Tree: {
    type: "ok",
    tree_id: head.tree_id,
    head,
    nodes: [{ id: head.node_id, parent_id: null, role: "root", content: {} }],
    has_more: false,
  },
  Context: {
    type: "ok",
    messages: [{ role: "user", content: { type: "text", text: "Make the tests pass." } }],
    has_more: false,
  },
  TurnSummary,
  TurnList: { type: "ok", turns: [TurnSummary], ...page },
  OneTurn: { type: "ok", turn: TurnSummary },
  TurnEvent,
  TurnEvents: {
    type: "ok",
    turn_id,
    status: "complete",
    events: [{ seq: 4, event: TurnEvent }],
    total_events: 12,
    has_more: true,
  },
  SessionEvent,
  NamedToken,
  TokenList: { type: "ok", tokens: [NamedToken] },
  TokenCreated: { type: "created", ...NamedToken, token: "plx_hZ3kq0Tn-xYz_…" },
  TokenRevoked: { type: "revoked", ...NamedToken },
  PagesSignedOut: { type: "signed_out", pages: 2 },
  SignedIn: { type: "signed_in", token: "plx_web_…", expires_at: 1789592000 },
  SignInCode: { type: "created", code: "k3J9vQ2mXw", expires_at: 1787000600 },
  SignedOut: { type: "signed_out" },
  Caller: { type: "ok", name: "operator", version: "0.1.0" },
  Alive: { status: "ok" },
  Ready: { status: "ready" },
  OpenApi: { openapi: "3.1.0" },
} satisfies { [Name in AnswerName]: z.output<(typeof ANSWERS)[Name]> } & {
  [Name in BodyName]: z.input<(typeof BODIES)[Name]>;
};

/** As the lines of a stream. */
export const STREAM_EXAMPLES: Partial<Record<AnswerName, string>> = {
  ChangeEvent: `id: 7\nevent: approval_requested\ndata: ${JSON.stringify(ChangeEvent)}\n\n`,
  SessionEvent: `id: ${turn_id}~4\nevent: content\ndata: ${JSON.stringify(SessionEvent)}\n\n`,
};
