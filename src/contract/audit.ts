import { z } from "zod";
import { ApprovalStatus } from "./approvals/approval.ts";
import { Id } from "./values.ts";

/** What people, agents and deadlines decided, and apart from it what built-in rules did: each is forgotten at its own age. */
export const AuditChain = z.enum(["decisions", "builtin"]);
export type AuditChain = z.infer<typeof AuditChain>;

/** No later than a date can be. */
const Milliseconds = z.int().nonnegative().max(8.64e15);
const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** Decisions that no chain has: so many, all of them made before this moment, when the chain began. */
const before = { chained_since: Milliseconds, unchained: z.int().nonnegative() };

/** What one entry of a chain says; its JSON text, keys in this order, is what is hashed. */
export const AuditEntry = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("begins"), at: Milliseconds, ...before }),
  z.strictObject({
    kind: z.literal("decided"),
    approval_id: Id,
    session_id: Id,
    session_name: z.string(),
    /** The turn, or the session of a claude that was started by hand. */
    asked_in: z.string(),
    owner: z.string(),
    tool_name: z.string(),
    tool_use_id: z.string().nullable(),
    /** Of the tool's name and the input, whatever the order of its keys. */
    ask_hash: Hash,
    asked_at: Milliseconds,
    expires_at: Milliseconds,
    status: ApprovalStatus,
    message: z.string().nullable(),
    updated_input_hash: Hash.nullable(),
    interrupt: z.boolean(),
    decided_at: Milliseconds,
    decided_by: z.string(),
    /** When a child waited for it: the moment of the decision itself. */
    delivered_at: Milliseconds.nullable(),
  }),
  z.strictObject({ kind: z.literal("delivered"), approval_id: Id, delivered_at: Milliseconds }),
  /** Everything up to here was forgotten because of its age, or for want of space. */
  z.strictObject({
    kind: z.literal("forgotten"),
    at: Milliseconds,
    through_seq: z.int(),
    through_hash: Hash,
    ...before,
  }),
  /** The inputs of these were removed to save space; their decisions, and the hashes of the inputs, stay. */
  z.strictObject({ kind: z.literal("cut"), at: Milliseconds, approval_ids: z.array(Id).min(1) }),
]);
export type AuditEntry = z.infer<typeof AuditEntry>;
export type DecidedEntry = Extract<AuditEntry, { kind: "decided" }>;
/** An entry that says when its chain began. */
export type AuditMark = Extract<AuditEntry, { kind: "begins" | "forgotten" }>;

/** One line of an export. */
export const AuditLine = z.strictObject({
  chain: AuditChain,
  seq: z.int(),
  /** Of the entry before this one. */
  previous: Hash,
  /** SHA-256 of `previous`, a line feed, and `entry`. */
  hash: Hash,
  /** An `AuditEntry` as JSON text. */
  entry: z.string(),
});
export type AuditLine = z.infer<typeof AuditLine>;

/** Something that does not fit, and where. */
export const AuditProblem = z.strictObject({
  chain: AuditChain,
  seq: z.int().nullable(),
  /** Whatever stands where an id should. */
  approval_id: z.string().nullable(),
  problem: z.string(),
});
export type AuditProblem = z.infer<typeof AuditProblem>;

export const AuditReport = z.strictObject({
  type: z.literal("ok"),
  intact: z.boolean(),
  chains: z.array(
    z.strictObject({
      chain: AuditChain,
      entries: z.int(),
      /** The newest entry: keep it elsewhere to notice a chain that was made anew. */
      head: z.strictObject({ seq: z.int(), hash: z.string() }),
      /** The last entry that was forgotten because of its age, or for want of space; -1 when none was. */
      forgotten_through: z.int(),
      /** When the chain began, and when its first and its newest entry were made: what is missing in front went early if that is young. */
      chained_since: Milliseconds.nullable(),
      first_at: Milliseconds.nullable(),
      head_at: Milliseconds.nullable(),
    }),
  ),
  problems: z.array(AuditProblem),
  has_more_problems: z.boolean(),
});
export type AuditReport = z.infer<typeof AuditReport>;
