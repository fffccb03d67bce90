import { z } from "zod";
import { Id, MAX_MESSAGE_CHARS, optional, UnixSeconds } from "../values.ts";

/** How long the pattern of a rule may be. */
export const MAX_MATCH_CHARS = 1_000;
/** How many rules a session may be given with its settings. */
export const MAX_SESSION_RULES = 100;
const MAX_USES = 1_000_000;
/** Ten years: longer is meant for ever. */
const MAX_EXPIRES_IN_SECS = 315_360_000;

export const RuleDecision = z.enum(["allow", "deny", "ask"]);
export type RuleDecision = z.infer<typeof RuleDecision>;

/** `shadow`: it only records what it would have decided. */
export const RuleMode = z.enum(["live", "shadow"]);
export type RuleMode = z.infer<typeof RuleMode>;

/** Where a rule comes from; the strictest that matches wins, whichever tier it is in. */
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

/** A rule that a session is given with its settings. */
export const SessionRule = z.strictObject(settings).superRefine(checkRule);
export type SessionRule = z.infer<typeof SessionRule>;

/** A rule as somebody adds it: for one session, or for all that the caller has; the operator's for everybody's. */
export const RuleFields = z.strictObject({ ...settings, session_id: optional(Id).describe("Only in this session.") });
export const RuleInput = RuleFields.superRefine(checkRule);
export type RuleInput = z.infer<typeof RuleInput>;

/** What of a rule can be changed; `null` takes an expiry or a number of uses away. */
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

/** What a rule in shadow mode would have decided, beside what was decided. */
export const ShadowRecord = z.strictObject({
  would_decide: z.int().nonnegative(),
  /** Of these, how many somebody has decided otherwise. */
  contradictions: z.int().nonnegative(),
  /** It has agreed often enough, and never disagreed. */
  ready: z.boolean(),
});
export type ShadowRecord = z.infer<typeof ShadowRecord>;

/** A rule as it is listed; what does not apply is left out. */
export const Rule = z.strictObject({
  id: z.string(),
  decision: RuleDecision,
  match: z.string(),
  tier: RuleTier,
  mode: RuleMode,
  /** Whose sessions it covers, where these are not everybody's. */
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
  /** Of the operator's file while it has a mistake: the allows in it do not count. */
  off: z.literal(true).optional(),
});
export type Rule = z.infer<typeof Rule>;

/** What a rule to allow leaves out, or that it allows nothing: constant words of Plexus. */
export const RuleNote = z.string();

/** How a decision is remembered: as a rule for the session, or for all sessions of whoever created it. */
export const Remember = z.strictObject({
  scope: z.enum(["session", "always"]),
  match: optional(Match),
});
export type Remember = z.infer<typeof Remember>;

/** What is wrong with the operator's file of rules. */
export const RulesFileStatus = z.strictObject({
  path: z.string(),
  ok: z.boolean(),
  rules: z.int().nonnegative(),
  /** While there are any, the allows of the file are off. */
  problems: z.array(z.string()),
});
export type RulesFileStatus = z.infer<typeof RulesFileStatus>;
