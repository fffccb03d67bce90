import { z } from "zod";
import { MAX_APPROVAL_TIMEOUT_SECS } from "../approvals/approval.ts";
import { MAX_SESSION_RULES, SessionRule } from "../rules/rule.ts";
import { Consumer, Id, JsonObject, Name, optional, Path } from "../values.ts";
import { Carrier } from "./carrier.ts";
import { Supervision } from "./supervision.ts";

/** `by_hand`: somebody starts this claude themselves; `managed`: Plexus starts it for each turn. */
export const SessionKind = z.enum(["by_hand", "managed"]);
export type SessionKind = z.infer<typeof SessionKind>;

const MAX_JSON_CHARS = 64_000;
/** The CLI refuses a budget of 0. */
export const SMALLEST_BUDGET_USD = 0.000001;

/** An object that is stored with a session and copied to its forks. */
const KeptObject = JsonObject.pipe(
  z.custom<JsonObject>((value) => JSON.stringify(value).length <= MAX_JSON_CHARS, {
    error: ({ input }) => `is ${JSON.stringify(input).length} characters of JSON; at most ${MAX_JSON_CHARS} are kept`,
  }),
);
const Words = z.array(z.string().min(1).max(1_000)).max(1_000);

export const CreateInput = z.strictObject({
  name: Name.describe("Must not be in use."),
  working_dir: optional(Path).describe("Where it works (where the server was started)."),
  model: optional(z.string().min(1).max(200)).describe("As Claude Code names it."),
  system_prompt: optional(z.string().min(1).max(100_000)).describe("Added to Claude Code's own."),
  loopback_enabled: optional(z.boolean()).describe("false: it asks nobody here."),
  loopback_timeout_secs: optional(z.int().min(1).max(MAX_APPROVAL_TIMEOUT_SECS)).describe(
    "How long a request waits (300).",
  ),
  supervision: optional(Supervision).describe(
    "strict: all calls need a decision but reading in its directories; default: and commands proven to only read there. inherit: the user's and the project's settings decide, which trusts the project.",
  ),
  allowed_tools: optional(Words).describe(
    "Calls that need no decision, as Claude Code's rules; in strict never commands, edits, network or MCP.",
  ),
  disallowed_tools: optional(Words).describe("Calls that never run, as Claude Code's rules."),
  rules: optional(z.array(SessionRule).max(MAX_SESSION_RULES)).describe(
    "Standing decisions, as loopback_rule_add takes them.",
  ),
  add_dirs: optional(z.array(Path).max(100)).describe("Further directories to work in."),
  mcp_servers: optional(KeptObject).describe(
    "As Claude Code's mcpServers; they start unasked. The operator may reserve them, and does in strict.",
  ),
  max_turns: optional(z.int().min(1).max(10_000)).describe("Of the model, for one prompt."),
  max_budget_usd: optional(z.number().min(SMALLEST_BUDGET_USD).max(1_000_000)).describe("For all its turns."),
  carrier: optional(Carrier).describe("stdio: its requests outlast any outage (http)."),
  metadata: optional(KeptObject).describe("Your own data."),
});
export type CreateInput = z.infer<typeof CreateInput>;

/** The settings that a child starts with, with all defaults filled in. */
export const SessionConfig = z.strictObject({
  working_dir: Path,
  model: z.string().nullable(),
  system_prompt: z.string().nullable(),
  loopback_enabled: z.boolean(),
  loopback_timeout_secs: z.int(),
  supervision: Supervision,
  allowed_tools: Words,
  disallowed_tools: Words,
  /** Absent if there are none. */
  rules: z.array(SessionRule).optional(),
  add_dirs: z.array(Path),
  mcp_servers: JsonObject,
  max_turns: z.int().nullable(),
  max_budget_usd: z.number().nullable(),
  carrier: Carrier,
  metadata: JsonObject,
});
export type SessionConfig = z.infer<typeof SessionConfig>;

const name = optional(Name).describe("The session's name.");
const session_id = optional(Id).describe("The session's id.");

export const SessionRef = z.strictObject({ name, session_id });
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Pages are ordered by id: any other text would silently begin at the first page again. */
const ListedId = Id.refine((id) => UUID.test(id), "must be an id that claudecode_list has told");
export const ListInput = z.strictObject({ after: optional(ListedId).describe("The last id of the page before.") });
export const StreamsInput = z.strictObject({ session_id: optional(Id).describe("Only this session.") });
export const ForkInput = z.strictObject({
  name: Name.describe("The session to fork."),
  new_name: Name.describe("The name of the new one."),
});
export const ChatInput = z.strictObject({
  name,
  session_id,
  prompt: z.string().min(1).max(10_000_000).describe("What it should do."),
  ephemeral: optional(z.boolean()).describe("Later turns don't know it."),
});
export const WaitSecs = optional(z.number().min(0).max(110)).describe("How long to wait (45).");
/** For the tools that tell the end of a turn as a wait does. */
export const ReaderName = Consumer.describe("As in loopback_wait.");
export const ChatWaitInput = ChatInput.extend({ wait_secs: WaitSecs, consumer: ReaderName });
export const PollInput = z.strictObject({
  session_id,
  name,
  from_seq: optional(z.int().nonnegative()).describe("Read again from this event; moves no position."),
  limit: optional(z.int().min(1).max(1_000)).describe("Events at most (100)."),
  wait_secs: optional(z.number().min(0).max(110)).describe("How long to wait (0)."),
  consumer: Consumer.describe("Names your read position."),
  view: optional(z.enum(["events", "summary"])).describe("summary: a line for each call."),
});
