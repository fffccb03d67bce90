import { z } from "zod";
import { Id, MAX_MESSAGE_CHARS, optional, UnixSeconds } from "../values.ts";

/** The longest pattern of a rule. */
export const MAX_MATCH_CHARS = 1_000;
/** The most rules in a session's settings. */
export const MAX_SESSION_RULES = 100;
const MAX_USES = 1_000_000;
/** Ten years: whoever wants longer means forever. */
const MAX_EXPIRES_IN_SECS = 315_360_000;

export const RuleDecision = z.enum(["allow", "deny", "ask"]);
export type RuleDecision = z.infer<typeof RuleDecision>;

/** `shadow`: the rule only records what it would have decided. */
export const RuleMode = z.enum(["live", "shadow"]);
export type RuleMode = z.infer<typeof RuleMode>;

/** The origin of a rule. The strictest matching rule wins, whatever its origin. */
export const RuleTier = z.enum(["file", "operator", "token", "session", "builtin"]);
export type RuleTier = z.infer<typeof RuleTier>;

export const Match = z.string().min(1).max(MAX_MATCH_CHARS);

const settings = {
  decision: RuleDecision.describe("The strictest match wins: deny, ask, allow."),
  match: Match.describe("As Claude Code's rules: Bash(npm run *), Edit(./src/**), WebFetch(domain:docs.rs)."),
  reason: optional(z.string().max(MAX_MESSAGE_CHARS)).describe("Of a denial, for the child."),
  interrupt: optional(z.boolean()).describe("With deny: ends the turn."),
  expires_in_secs: optional(z.int().min(1).max(MAX_EXPIRES_IN_SECS)).describe(""),
  uses: optional(z.int().min(1).max(MAX_USES)).describe("How often it may decide."),
  mode: optional(RuleMode).describe("shadow: only records."),
};

type Checked = { decision?: RuleDecision | undefined; interrupt?: boolean | undefined };

function checkRule({ decision, interrupt }: Checked, context: z.RefinementCtx): void {
  if (interrupt && decision !== undefined && decision !== "deny")
    context.addIssue({ code: "custom", path: ["interrupt"], message: "goes with decision: deny only" });
}

/** A rule in a session's settings. */
export const SessionRule = z.strictObject(settings).superRefine(checkRule);
export type SessionRule = z.infer<typeof SessionRule>;

/**
 * A new rule: for one session, or for all the caller's sessions; a rule of the operator may apply to all owners'
 * sessions.
 */
export const RuleFields = z.strictObject({ ...settings, session_id: optional(Id).describe("Only this session.") });
export const RuleInput = RuleFields.superRefine(checkRule);
export type RuleInput = z.infer<typeof RuleInput>;

/** The changeable fields of a rule; `null` removes an expiry or a limit on uses. */
export const RuleUpdate = z
  .strictObject({
    decision: RuleDecision.optional(),
    match: Match.optional(),
    reason: z.string().max(MAX_MESSAGE_CHARS).nullish(),
    interrupt: z.boolean().optional(),
    expires_in_secs: z.int().min(1).max(MAX_EXPIRES_IN_SECS).nullish(),
    uses: z.int().min(1).max(MAX_USES).nullish(),
    mode: RuleMode.optional(),
  })
  .superRefine(checkRule);
export type RuleUpdate = z.infer<typeof RuleUpdate>;

/** The decisions that a shadow rule would have made, compared with the actual ones. */
export const ShadowRecord = z.strictObject({
  would_decide: z.int().nonnegative(),
  /** How many of these were decided differently. */
  contradictions: z.int().nonnegative(),
  /** The rule has agreed often enough and never disagreed. */
  ready: z.boolean(),
});
export type ShadowRecord = z.infer<typeof ShadowRecord>;

/** A rule in a list; fields that don't apply are absent. */
export const Rule = z.strictObject({
  id: z.string(),
  decision: RuleDecision,
  match: z.string(),
  tier: RuleTier,
  mode: RuleMode,
  /** The owner whose sessions it covers; absent if it covers all owners' sessions. */
  owner: z.string().optional(),
  session_id: Id.optional(),
  reason: z.string().optional(),
  interrupt: z.literal(true).optional(),
  created_by: z.string().optional(),
  created_at: UnixSeconds.optional(),
  expires_at: UnixSeconds.optional(),
  uses_left: z.int().nonnegative().optional(),
  from_approval_id: Id.optional(),
  hits: z.int().nonnegative(),
  last_hit_at: UnixSeconds.optional(),
  shadow: ShadowRecord.optional(),
  /** The rule is an allow in the operator's file, which has an error, so it is off. */
  off: z.literal(true).optional(),
});
export type Rule = z.infer<typeof Rule>;

/** What an allow rule doesn't cover, or that it allows nothing; always a fixed text of Plexus. */
export const RuleNote = z.string();

/** How a decision becomes a rule: for its session, or for all sessions of the session's creator. */
export const Remember = z.strictObject({
  scope: z.enum(["session", "always"]),
  match: optional(Match),
});
export type Remember = z.infer<typeof Remember>;

/** The state of the operator's rules file. */
export const RulesFileStatus = z.strictObject({
  path: z.string(),
  ok: z.boolean(),
  rules: z.int().nonnegative(),
  /** While there are problems, the file's allow rules are off. */
  problems: z.array(z.string()),
});
export type RulesFileStatus = z.infer<typeof RulesFileStatus>;
