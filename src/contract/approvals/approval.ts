import { z } from "zod";
import { Supervision } from "../sessions/supervision.ts";
import { Id, JsonObject, Name, optional, Path, UnixSeconds } from "../values.ts";

export const ApprovalStatus = z.enum(["pending", "allowed", "denied", "timed_out", "abandoned"]);
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

/** Which approvals to list; `resolved` means all that are not pending. */
export const ApprovalFilter = z.enum([...ApprovalStatus.options, "resolved"]);
export type ApprovalFilter = z.infer<typeof ApprovalFilter>;

/** One request of a child to use one tool, as the API shows it. */
export const Approval = z.strictObject({
  id: Id,
  session_id: Id,
  session_name: z.string(),
  tool_name: z.string(),
  tool_use_id: z.string().nullable(),
  input: JsonObject,
  status: ApprovalStatus,
  response_message: z.string().nullable(),
  updated_input: JsonObject.nullable(),
  created_at: UnixSeconds,
  expires_at: UnixSeconds,
  resolved_at: UnixSeconds.nullable(),
  resolved_by: z.string().nullable(),
  /** Once it is decided: when the decision was delivered to the waiting child. */
  delivered_at: UnixSeconds.nullable().optional(),
  truncated: z.literal(true).optional(),
  input_size: z.int().optional(),
  /** When the input and the updated input were removed to save space; both are `{}` since. */
  input_removed_at: UnixSeconds.optional(),
});
export type Approval = z.infer<typeof Approval>;

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

/** The CLI accepts answers of up to 50,000 characters; longer ones only if its model API counts few enough tokens. */
export const MAX_UPDATED_INPUT_CHARS = 49_000;
/** How long the reason for a denial may be. */
export const MAX_MESSAGE_CHARS = 8_000;

/** A child's request. Lenient, because the CLI may send further keys. */
export const PermitInput = z.looseObject({
  tool_name: z.string().min(1).max(512).describe("The tool that the child wants to use."),
  input: JsonObject.describe("The arguments that the child wants to call it with."),
  tool_use_id: optional(z.string().min(1).max(512)).describe("The id of the tool call in the child's conversation."),
});
export type PermitInput = z.infer<typeof PermitInput>;

/** The operator's own request, to try things out: it names the session that a child's token would imply. */
export const OperatorPermitInput = PermitInput.extend({
  session_id: optional(Id).describe("The session (id or name) to file this under."),
});
export type OperatorPermitInput = z.infer<typeof OperatorPermitInput>;

const decision = {
  approve: z.boolean().describe("true allows this one call, false denies it."),
  message: optional(z.string().max(MAX_MESSAGE_CHARS)).describe(
    "With a denial: the reason, which the child gets as the tool's result. Say what it should do instead.",
  ),
  updated_input: optional(JsonObject).describe(
    "With an approval: run the tool with this input instead. The whole input object, not a part of it.",
  ),
  interrupt: optional(z.boolean()).describe("With a denial: also end the child's turn."),
};

type DecisionFields = {
  approve: boolean;
  message?: string | undefined;
  updated_input?: JsonObject | undefined;
  interrupt?: boolean | undefined;
};

/** Refuses decisions that would not do what the decider meant. */
function checkDecision(value: DecisionFields, context: z.RefinementCtx<DecisionFields>): void {
  const refuse = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if (value.interrupt && value.approve) refuse("interrupt", "goes with approve: false only");
  if (value.updated_input === undefined) return;
  if (!value.approve) refuse("updated_input", "goes with approve: true only");
  if (Object.keys(value.updated_input).length === 0) {
    refuse("updated_input", "must not be empty: an empty one would run the original input");
  }
  const size = JSON.stringify(value.updated_input).length;
  if (size > MAX_UPDATED_INPUT_CHARS) {
    const limit = `Claude Code takes at most ${MAX_UPDATED_INPUT_CHARS}`;
    refuse("updated_input", `is ${size} characters of JSON; ${limit}: deny it, and say what to change`);
  }
}

/** A decision in a REST body. */
export const Decision = z.strictObject(decision).superRefine(checkDecision);
export type Decision = z.infer<typeof Decision>;

export const RespondInput = z
  .strictObject({ approval_id: Id.describe("The approval to decide."), ...decision })
  .superRefine(checkDecision);
export type RespondInput = z.infer<typeof RespondInput>;

export const RespondResult = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ok"), approval_id: Id, status: ApprovalStatus }),
  z.strictObject({
    type: z.literal("already_resolved"),
    approval_id: Id,
    status: ApprovalStatus,
    resolved_by: z.string(),
    resolved_at: UnixSeconds,
  }),
]);
export type RespondResult = z.infer<typeof RespondResult>;

export const PendingInput = z.strictObject({
  session_id: optional(Id).describe("Only the approvals of this session."),
});

export const GetInput = z.strictObject({
  approval_id: Id.describe("The approval to read."),
  offset: optional(z.int().nonnegative()).describe("Read the input's JSON text from this character on."),
  length: optional(z.int().positive().max(30_000)).describe("How many characters of it (30,000 at most)."),
});

export const WaitInput = z.strictObject({
  session_id: optional(Id).describe("Only what concerns this session."),
  since: optional(z.int().nonnegative()).describe("The cursor that the last wait returned."),
  timeout_secs: optional(z.number().min(0).max(110)).describe("How many seconds to wait (45, at most 110)."),
});

export const ConfigureInput = z.strictObject({
  name: optional(Name).describe("A name for the new session; must not be in use."),
  session_id: optional(Id).describe("An existing session of yours, to give it one more token."),
  supervision: optional(Supervision).describe(
    "strict or default: every call asks, and no settings of the user or the project apply. inherit: they do.",
  ),
  working_dir: optional(Path).describe(
    "Where it will work, on the server's own host: built-in rules then decide calls that only read there.",
  ),
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

/** The greatest value that the CLI accepts: its own limit must never end a wait. */
export const CALL_TIMEOUT_MS = 100_000_000;

/** The MCP entry by which a child reaches Plexus, with the token that identifies its session. */
export function plexusServer(url: string, token: string): McpConfig["mcpServers"]["plexus"] {
  return {
    type: "http",
    url: `${url}/mcp`,
    headers: { Authorization: `Bearer ${token}` },
    timeout: CALL_TIMEOUT_MS,
  };
}
