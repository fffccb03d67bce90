import { z } from "zod";
import { Supervision } from "../sessions/supervision.ts";
import { Consumer, Id, JsonObject, Name, optional, Path, UnixSeconds } from "../values.ts";

export const ApprovalStatus = z.enum(["pending", "allowed", "denied", "timed_out", "abandoned"]);
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

/** Which approvals to list; `resolved` means all that are not pending. */
export const ApprovalFilter = z.enum([...ApprovalStatus.options, "resolved"]);
export type ApprovalFilter = z.infer<typeof ApprovalFilter>;

/**
 * Why a call deserves a second look: the rule's code (docs/dangers.md), and a text that continues a sentence after
 * "it".
 */
export const Danger = z.strictObject({ code: z.string(), text: z.string() });

/**
 * Context of a pending request; empty and unknown parts are absent. A decided request has only `cwd` and `dangers`, and
 * only when it is read by itself.
 */
export const RequestContext = z.strictObject({
  /** The child's working directory on this host. */
  cwd: z.string().optional(),
  /** Absent if there are none. A decided request has only those that follow from its input alone. */
  dangers: z.array(Danger).optional(),
  /**
   * The text of the message that makes the call, or, if it has none, the child's last text before it; shortened if
   * long.
   */
  said: z.string().optional(),
  /** The type and task of the requesting subagent. */
  agent: z.string().optional(),
  /** The plan with which ExitPlanMode would leave plan mode. */
  plan: z.string().optional(),
  /** The real paths of paths in the input, and in its command, that links lead elsewhere. */
  real_paths: z.array(z.string()).optional(),
  /** The narrowest useful pattern of a rule that would decide such calls. */
  suggested_rule: z.string().optional(),
  /** Why no rule can allow the call, so that an approval can't be remembered; may quote the call. */
  no_rule: z.string().optional(),
  /** Why an allow rule that seems to cover the call doesn't. */
  why_asked: z.string().optional(),
  /** The caller's grant doesn't cover the call, so only the operator can allow it. */
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
  /** The time left; only while it is pending. */
  expires_in_secs: z.int().nonnegative().optional(),
  ...RequestContext.shape,
  /** What a write or an edit would change in the file; only when one approval is read. */
  diff: z.string().optional(),
  // Absent for agents until the request is decided; the REST API shows `null`.
  response_message: z.string().nullable().optional(),
  updated_input: JsonObject.nullable().optional(),
  resolved_at: UnixSeconds.nullable().optional(),
  resolved_by: z.string().nullable().optional(),
  /** When the decided request's answer reached the waiting child. */
  delivered_at: UnixSeconds.nullable().optional(),
  truncated: z.literal(true).optional(),
  input_size: z.int().optional(),
  /** The first offset, in the text that loopback_get reads, at which text is missing; absent if none of the input is. */
  cut_at: z.int().nonnegative().optional(),
  /** When the input and the updated input were removed to save space; both are `{}` since then. */
  input_removed_at: UnixSeconds.optional(),
});
export type Approval = z.infer<typeof Approval>;

/**
 * A pending approval in an answer about what to do next, without parts that an agent doesn't need or already has. In a
 * list, a missing field has the value of the previous approval of its session, a missing name that of the previous
 * approval, and `null` means that there is none.
 */
export const ToldApproval = Approval.partial()
  .required({ id: true, tool_name: true, input: true })
  .extend({
    suggested_rule: z.string().nullish(),
    why_asked: z.string().nullish(),
    /** The caller was told all of it before: only the beginning is repeated. */
    told_before: z.literal(true).optional(),
  });
export type ToldApproval = z.infer<typeof ToldApproval>;

/** The approval for an agent, without the fields of a decision that does not exist yet. */
export function toldApproval(approval: Approval): Approval {
  if (approval.status !== "pending") return approval;
  const { response_message: _, updated_input: __, resolved_at: ___, resolved_by: ____, ...told } = approval;
  return told;
}

/** The notification that a decider receives when a child asks. */
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

/** A trial request by the operator, which names the session that a child's token would imply. */
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
  consumer: Consumer.describe("A name of your own: it keeps your place."),
});
export type WaitInput = z.output<typeof WaitInput>;

export const ConfigureInput = z.strictObject({
  name: optional(Name).describe("For a new session; must not be in use."),
  session_id: optional(Id).describe("Instead: one that you have, for one more token."),
  supervision: optional(Supervision).describe("As in claudecode_create."),
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

/** The longest time that a request may wait: seven days. */
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
