import { z } from "zod";
import { Id, JsonObject, Name, optional, Path } from "../values.ts";
import { Carrier } from "./carrier.ts";
import { Supervision } from "./supervision.ts";

/** `by_hand`: a claude that somebody starts themselves; `managed`: one that Plexus starts for each turn. */
export const SessionKind = z.enum(["by_hand", "managed"]);
export type SessionKind = z.infer<typeof SessionKind>;

const MAX_JSON_CHARS = 64_000;

/** An object that is stored with a session and copied to its forks. */
const KeptObject = JsonObject.pipe(
  z.custom<JsonObject>((value) => JSON.stringify(value).length <= MAX_JSON_CHARS, {
    error: ({ input }) => `is ${JSON.stringify(input).length} characters of JSON; at most ${MAX_JSON_CHARS} are kept`,
  }),
);
const Words = z.array(z.string().min(1).max(1_000)).max(1_000);

export const CreateInput = z.strictObject({
  name: Name.describe("What to call the session; must not be in use."),
  working_dir: optional(Path).describe("Where the child works; by default, where the server was started."),
  model: optional(z.string().min(1).max(200)).describe("The model, as Claude Code names it."),
  system_prompt: optional(z.string().min(1).max(100_000)).describe("Added to Claude Code's own system prompt."),
  loopback_enabled: optional(z.boolean()).describe(
    "false starts the child without asking for permission through Plexus.",
  ),
  loopback_timeout_secs: optional(z.int().min(1).max(86_400)).describe(
    "How long a request waits for a decision (300).",
  ),
  supervision: optional(Supervision).describe(
    "Who decides. strict: somebody decides every call, except reading files in its directories. default (if left out): commands that are proven to only read there run too. inherit: the settings of the user and the project decide what is asked, which trusts the project.",
  ),
  allowed_tools: optional(Words).describe(
    "Calls that run without asking, in Claude Code's rule syntax; in strict never commands, edits, network or MCP.",
  ),
  disallowed_tools: optional(Words).describe("Tools that never run, in Claude Code's rule syntax."),
  add_dirs: optional(z.array(Path).max(100)).describe(
    "Further directories that the child may work in; a relative one begins at working_dir.",
  ),
  mcp_servers: optional(KeptObject).describe(
    "Further MCP servers for the child, by name, as in Claude Code's mcpServers; they start without asking. The operator may reserve them, and in strict always does.",
  ),
  max_turns: optional(z.int().min(1).max(10_000)).describe("How many model turns one prompt may take."),
  carrier: optional(Carrier).describe(
    "How the child reaches Plexus: http, or stdio, which keeps its requests waiting while the server is away (http).",
  ),
  metadata: optional(KeptObject).describe("Your own data, stored with the session."),
});
export type CreateInput = z.infer<typeof CreateInput>;

/** The settings with which a child is started, with all defaults filled in. */
export const SessionConfig = z.strictObject({
  working_dir: Path,
  model: z.string().nullable(),
  system_prompt: z.string().nullable(),
  loopback_enabled: z.boolean(),
  loopback_timeout_secs: z.int(),
  supervision: Supervision,
  allowed_tools: Words,
  disallowed_tools: Words,
  add_dirs: z.array(Path),
  mcp_servers: JsonObject,
  max_turns: z.int().nullable(),
  carrier: Carrier,
  metadata: JsonObject,
});
export type SessionConfig = z.infer<typeof SessionConfig>;

const name = optional(Name).describe("The session's name.");
const session_id = optional(Id).describe("The session's id.");

export const SessionRef = z.strictObject({ name, session_id });
export const StreamsInput = z.strictObject({ session_id: optional(Id).describe("Only the turns of this session.") });
export const ForkInput = z.strictObject({
  name: Name.describe("The session to fork."),
  new_name: Name.describe("What to call the new one; must not be in use."),
});
export const ChatInput = z.strictObject({
  name,
  session_id,
  prompt: z.string().min(1).max(10_000_000).describe("What the child should do."),
  ephemeral: optional(z.boolean()).describe("true leaves no trace of this turn in later ones."),
});
export const ChatWaitInput = ChatInput.extend({
  wait_secs: optional(z.number().min(0).max(110)).describe("How long to wait for the end (45)."),
});
export const PollInput = z.strictObject({
  session_id,
  name,
  from_seq: optional(z.int().nonnegative()).describe("Read again from this event on; moves no position."),
  limit: optional(z.int().min(1).max(1_000)).describe("How many events at the most (100)."),
  wait_secs: optional(z.number().min(0).max(110)).describe("How long to wait for something new (0)."),
  consumer: optional(z.string().min(1).max(100)).describe("The name of your own read position."),
});
