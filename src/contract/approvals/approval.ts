import { z } from "zod";
import { Supervision } from "../sessions/supervision.ts";
import { Id, JsonObject, Name, optional, Path, UnixSeconds } from "../values.ts";

export const ApprovalStatus = z.enum(["pending", "allowed", "denied", "timed_out", "abandoned"]);
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

/** Which approvals to list; `resolved` means all that are not pending. */
export const ApprovalFilter = z.enum([...ApprovalStatus.options, "resolved"]);
export type ApprovalFilter = z.infer<typeof ApprovalFilter>;

/** Why a call deserves a second look: the rule (docs/dangers.md), and what follows "it". */
export const Danger = z.strictObject({ code: z.string(), text: z.string() });

/**
 * What a pending request should be read with; what is empty, or not known, is left out. One that is decided has `cwd` and
 * `dangers` where it is read alone.
 */
export const RequestContext = z.strictObject({
  /** Where the child works, on this host. */
  cwd: z.string().optional(),
  /** None are left out; once it is decided, those that its input alone tells. */
  dangers: z.array(Danger).optional(),
  /** What the child said in the message that makes the call, or, where that has no words, last before it; cut where it is long. */
  said: z.string().optional(),
  /** The subagent that asks: its type and task. */
  agent: z.string().optional(),
  /** The plan with which ExitPlanMode would leave plan mode. */
  plan: z.string().optional(),
  /** Where paths in the input really lead, a command's too, where links make that another place than what is written. */
  real_paths: z.array(z.string()).optional(),
  /** The pattern of a rule that would decide such calls, as narrow as is still of use. */
  suggested_rule: z.string().optional(),
  /** Why no rule can allow it, so that an approval can't be remembered; it may quote the call. */
  no_rule: z.string().optional(),
  /** Of a rule to allow that looks as if it covered the call: why it does not. */
  why_asked: z.string().optional(),
  /** The caller's grant does not cover it: it is the operator's to allow. */
  escalates: z.literal(true).optional(),
});
export type RequestContext = z.infer<typeof RequestContext>;

/** One request of a child to use one tool, as the API shows it. */
export const Approval = z.strictObject({
  id: Id,
  session_id: Id,
  session_name: z.string(),
  tool_name: z.string(),
  tool_use_id: z.string().nullable(),
  input: JsonObject,
  status: ApprovalStatus,
  created_at: UnixSeconds,
  expires_at: UnixSeconds,
  /** While it is pending: how long it still is. */
  expires_in_secs: z.int().nonnegative().optional(),
  ...RequestContext.shape,
  /** What a write or an edit would change in the file, where one approval is read. */
  diff: z.string().optional(),
  // Once it is decided; agents are not told of it before, while the REST API says `null`.
  response_message: z.string().nullable().optional(),
  updated_input: JsonObject.nullable().optional(),
  resolved_at: UnixSeconds.nullable().optional(),
  resolved_by: z.string().nullable().optional(),
  /** Once it is decided: when the decision was delivered to the waiting child. */
  delivered_at: UnixSeconds.nullable().optional(),
  truncated: z.literal(true).optional(),
  input_size: z.int().optional(),
  /** When the input and the updated input were removed to save space; both are `{}` since. */
  input_removed_at: UnixSeconds.optional(),
});
export type Approval = z.infer<typeof Approval>;

/**
 * A pending approval in an answer that tells of what to do next: without what an agent has no use for, or was told. Of
 * many, `null` says that there is none, where the one before it of its session has one; no name is that of the one before.
 */
export const ToldApproval = Approval.partial()
  .required({ id: true, tool_name: true, input: true })
  .extend({ suggested_rule: z.string().nullish(), why_asked: z.string().nullish() });
export type ToldApproval = z.infer<typeof ToldApproval>;

/** The approval as an agent reads it: what is not decided yet is left out. */
export function toldApproval(approval: Approval): Approval {
  if (approval.status !== "pending") return approval;
  const { response_message: _, updated_input: __, resolved_at: ___, resolved_by: ____, ...told } = approval;
  return told;
}

/** What the approver receives at the moment a child asks. */
export const ToolRequestEvent = z.strictObject({
  approval_id: Id,
  session_name: z.string(),
  tool_name: z.string(),
  tool_input: JsonObject,
  tool_use_id: z.string().nullable(),
});
export type ToolRequestEvent = z.infer<typeof ToolRequestEvent>;

/** The answer to the child: exactly the JSON that Claude Code parses. */
export const PermitAnswer = z.discriminatedUnion("behavior", [
  z.strictObject({ behavior: z.literal("allow"), updatedInput: JsonObject }),
  z.strictObject({ behavior: z.literal("deny"), message: z.string().min(1), interrupt: z.literal(true).optional() }),
]);
export type PermitAnswer = z.infer<typeof PermitAnswer>;

/** A child's request. Lenient, because the CLI may send further keys. */
export const PermitInput = z.looseObject({
  tool_name: z.string().min(1).max(512).describe("The tool to use."),
  input: JsonObject.describe("Its arguments."),
  tool_use_id: optional(z.string().min(1).max(512)).describe("The call's id."),
});
export type PermitInput = z.infer<typeof PermitInput>;

/** The operator's own request, to try things out: it names the session that a child's token would imply. */
export const OperatorPermitInput = PermitInput.extend({
  session_id: optional(Id).describe("The session that asks."),
});
export type OperatorPermitInput = z.infer<typeof OperatorPermitInput>;

export const PendingInput = z.strictObject({
  session_id: optional(Id).describe("Only this session."),
});

export const GetInput = z
  .strictObject({
    approval_id: Id.describe("The approval to read."),
    offset: optional(z.int().nonnegative()).describe("From this character of the input's JSON on."),
    length: optional(z.int().min(1).max(30_000)).describe("How many (30,000 at most)."),
    search: optional(z.string().min(1).max(200)).describe("Instead: where this occurs, from offset on."),
  })
  .refine(({ length, search }) => length === undefined || search === undefined, {
    path: ["length"],
    error: "goes without search",
  });

export const WaitInput = z.strictObject({
  session_id: optional(Id).describe("Only this session."),
  since: optional(z.int().nonnegative()).describe("Your last cursor, or an earlier one to read again."),
  timeout_secs: optional(z.number().min(0).max(110)).describe("How long to wait (45)."),
  skip: optional(z.array(Id).max(200)).describe("Approvals to leave out."),
  consumer: optional(z.string().min(1).max(100)).describe("A name of your own, if several agents use one token."),
});
export type WaitInput = z.output<typeof WaitInput>;

export const ConfigureInput = z.strictObject({
  name: optional(Name).describe("For a new session; must not be in use."),
  session_id: optional(Id).describe("Instead: one that you have, for one more token."),
  supervision: optional(Supervision).describe("inherit: settings of the user and the project apply."),
  working_dir: optional(Path).describe("Where it will work, on the server's host: built-in rules then apply."),
});
export type ConfigureInput = z.infer<typeof ConfigureInput>;

export const McpConfig = z.strictObject({
  mcpServers: z.strictObject({
    plexus: z.strictObject({
      type: z.literal("http"),
      url: z.string(),
      headers: z.strictObject({ Authorization: z.string() }),
      timeout: z.int(),
    }),
  }),
});
export type McpConfig = z.infer<typeof McpConfig>;

/** The name of the permission tool on a child's command line. */
export const PERMISSION_TOOL = "mcp__plexus__loopback_permit";

/** The longest that a request may wait: seven days. */
export const MAX_APPROVAL_TIMEOUT_SECS = 604_800;

/** How long the CLI waits for our answer: a day longer than any request, so that its own limit never ends a wait. */
export const CALL_TIMEOUT_MS = 700_000_000;

/** The MCP entry by which a child reaches Plexus, with the token that identifies its session. */
export function plexusServer(url: string, token: string): McpConfig["mcpServers"]["plexus"] {
  return {
    type: "http",
    url: `${url}/mcp`,
    headers: { Authorization: `Bearer ${token}` },
    timeout: CALL_TIMEOUT_MS,
  };
}
