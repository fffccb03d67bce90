import { z } from "zod";
import { ApprovalStatus } from "./approvals/approval.ts";
import { Id } from "./values.ts";

/**
 * Decisions by people, agents and timeouts are in one chain, those of built-in rules in another, because each has its
 * own retention.
 */
export const AuditChain = z.enum(["decisions", "builtin"]);
export type AuditChain = z.infer<typeof AuditChain>;

/** Limited to the latest time that a `Date` can represent. */
const Milliseconds = z.int().nonnegative().max(8.64e15);
const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** The number of decisions from before the chain began at `chained_since`, which are in no chain. */
const before = { chained_since: Milliseconds, unchained: z.int().nonnegative() };

/** The content of one entry of a chain; its JSON text, with keys in this order, is hashed. */
export const AuditEntry = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("begins"), at: Milliseconds, ...before }),
  z.strictObject({
    kind: z.literal("decided"),
    approval_id: Id,
    session_id: Id,
    session_name: z.string(),
    /** The turn, or the session of a claude started by hand. */
    asked_in: z.string(),
    owner: z.string(),
    tool_name: z.string(),
    tool_use_id: z.string().nullable(),
    /** The hash of the tool's name and its input; the order of keys doesn't matter. */
    ask_hash: Hash,
    asked_at: Milliseconds,
    expires_at: Milliseconds,
    status: ApprovalStatus,
    message: z.string().nullable(),
    updated_input_hash: Hash.nullable(),
    interrupt: z.boolean(),
    decided_at: Milliseconds,
    decided_by: z.string(),
    /** Equals the time of the decision if a child was waiting for it. */
    delivered_at: Milliseconds.nullable(),
  }),
  z.strictObject({ kind: z.literal("delivered"), approval_id: Id, delivered_at: Milliseconds }),
  /** Everything up to here was deleted because of its age or to save space. */
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
/** An entry with the time when its chain began. */
export type AuditMark = Extract<AuditEntry, { kind: "begins" | "forgotten" }>;

/** One line of an export. */
export const AuditLine = z.strictObject({
  chain: AuditChain,
  seq: z.int(),
  /** The hash of the previous entry. */
  previous: Hash,
  /** SHA-256 of `previous`, a line feed, and `entry`. */
  hash: Hash,
  /** An `AuditEntry` as JSON text. */
  entry: z.string(),
});
export type AuditLine = z.infer<typeof AuditLine>;

/** An inconsistency, and where it is. */
export const AuditProblem = z.strictObject({
  chain: AuditChain,
  seq: z.int().nullable(),
  /** Whatever the entry contains instead of an id. */
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
      /** The newest entry: keep a copy elsewhere to notice a chain that was rebuilt. */
      head: z.strictObject({ seq: z.int(), hash: z.string() }),
      /** The last entry that was deleted because of its age or to save space; -1 if none was. */
      forgotten_through: z.int(),
      /** When the chain began, and when its first and newest remaining entries were made. */
      chained_since: Milliseconds.nullable(),
      first_at: Milliseconds.nullable(),
      head_at: Milliseconds.nullable(),
    }),
  ),
  problems: z.array(AuditProblem),
  has_more_problems: z.boolean(),
});
export type AuditReport = z.infer<typeof AuditReport>;
