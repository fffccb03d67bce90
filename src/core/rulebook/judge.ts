import { pathOutside } from "../../claude/launch/program-path.ts";
import type { PermitInput } from "../../contract/approvals/approval.ts";
import { oneLine } from "../../contract/text/one-line.ts";
import type { JsonObject } from "../../contract/values.ts";
import type { RuleOutcome } from "../../storage/approvals.ts";
import type { Judged } from "../../storage/rules.ts";
import { isCoveredBy } from "../rules/allowed-tools/allowed-tools.ts";
import { builtinRule } from "../rules/builtin/builtin.ts";
import { createFinder } from "../rules/matching/find.ts";
import { type JudgedCall, judgedCall, type Place } from "../rules/matching/judged-call.ts";
import { type Pattern, readMatch } from "../rules/matching/pattern.ts";
import type { HasDangers } from "../rules/matching/prove.ts";
import { suggestedMatch } from "../rules/matching/suggest.ts";
import type { WithheldFiles } from "../rules/withheld-files.ts";
import type { Session } from "../sessions/sessions.ts";
import type { Grants } from "./grants.ts";
import type { RuleBook } from "./rule-book.ts";
import type { CompiledRule, Verdict } from "./rule-set.ts";

type JudgeNeed = {
  book: RuleBook;
  grants: Grants;
  dangersIn: (session: Session) => HasDangers;
  /** Files and directories that no child may read by any path. */
  privatePaths: string[];
  home: string;
  /** The `PATH` of the shell that starts a child. */
  path: string;
};

/** The result of matching a call against the rules. Without an outcome the call needs approval. */
export type Judgement = { outcome: RuleOutcome | undefined; judged: Judged };

/** The matches of the rules that decide a call, or a sentence on why the call needs approval; it may quote the call. */
export type Explained = { match?: string; why?: string };

export type Judge = ReturnType<typeof createJudge>;

const ANOTHER_DIRECTORY =
  "Plexus does not let a child work in another directory than its own: its calls could not be judged there. Work here, or ask for a session there.";

const MAX_MATCH_CHARS = 80;
export const NOT_SEARCHED = "it could not be searched for what is denied: its paths lead too far.";
const NAMES_PRIVATE = "it names a file of Plexus, or one that holds tokens, which no child may read or change.";

/**
 * Decides calls without approval: by rules, or because a built-in rule proves that a call only reads. The strictest
 * rule wins.
 */
export function createJudge({ book, grants, dangersIn, privatePaths, home, path }: JudgeNeed) {
  const privateFinder = createFinder(
    privatePaths.flatMap((path) =>
      ["Read", "Edit"].flatMap((tool) => [`${tool}(/${path})`, `${tool}(/${path}/**)`]).flatMap(asRule),
    ),
  );

  function placeOf(session: Session): Place {
    const { config } = session;
    if (!config) return { workingDir: undefined, addDirs: [], privatePaths, home, path };
    const { working_dir: workingDir, add_dirs: addDirs } = config;
    const ownPath = session.kind === "managed" ? pathOutside([workingDir, ...addDirs], path) : path;
    return { workingDir, addDirs, privatePaths, home, path: ownPath };
  }

  /**
   * The built-in rule that proves the call, or `allowed_tools` if the session's creator allowed the tool and may do so.
   */
  async function builtin(
    session: Session,
    judged: JudgedCall,
    withheld: WithheldFiles | undefined,
    isSuspect: () => boolean,
  ): Promise<string | undefined> {
    const { config, owner } = session;
    const {
      call,
      place: { addDirs, path },
    } = judged;
    // For a claude that was started by hand elsewhere, the working directory is unknown.
    if (!config || config.supervision === "inherit") return undefined;
    const { supervision, working_dir: workingDir, allowed_tools } = config;
    const child = {
      ...{ supervision, workingDir, addDirs, privatePaths, home },
      ...(path !== undefined && { path }),
      ...(withheld && { withheld }),
    };
    const rule = builtinRule(call, child);
    if (rule !== undefined || !isCoveredBy(allowed_tools, call, child) || isSuspect()) return rule;
    const mayAllow = await grants.mayAllow([owner], session);
    return mayAllow(owner, judged) ? "allowed_tools" : undefined;
  }

  return {
    placeOf,
    async judge(session: Session, asked: PermitInput): Promise<Judgement> {
      const { version, set } = await book.holdingIn(session);
      const place = placeOf(session);
      const call = judgedCall({ toolName: asked.tool_name, input: asked.input }, place);
      const mayAllow = await grants.mayAllow(set.makers, session);
      const withheld = set.withheld(place);
      const by = { version, shadows: set.shadows(call, withheld, mayAllow) };
      const isBound = isSupervised(session) && leavesDirectory(asked);
      const against = set.against(call);
      if (against?.decision === "deny") return byRule(against, by);
      if (isBound) return byBuiltin("worktree", ANOTHER_DIRECTORY, by);
      // A call that could not be searched for denied things needs approval too.
      if (against || call.hasFailed) return { outcome: undefined, judged: judgedBy(by, usedIn(against?.rules ?? [])) };
      const rule = await builtin(session, call, withheld, () => set.suspects(call));
      if (rule !== undefined) return byBuiltin(rule, undefined, by);
      const allowing = set.allowing(call, withheld, mayAllow);
      if (allowing) return byRule(allowing, by);
      return { outcome: undefined, judged: judgedBy(by, usedIn([])) };
    },

    /**
     * Why a call may not run, whoever allows it: a rule denies it, it leaves its directory, or it names a file that no
     * child may read. Used for edited inputs, because the CLI applies its own rules only to the original input.
     */
    async denialOf(session: Session, asked: PermitInput): Promise<string | undefined> {
      await book.freshen();
      const { set } = await book.holdingIn(session);
      const call = callOf(session, asked);
      const against = set.against(call);
      const [rule] = against?.decision === "deny" ? against.rules : [];
      if (rule) return rule.reason || deniedBy(rule);
      if (isSupervised(session) && leavesDirectory(asked)) return ANOTHER_DIRECTORY;
      const isPrivate = privateFinder.find(call) !== undefined;
      if (isPrivate) return NAMES_PRIVATE;
      return call.hasFailed ? NOT_SEARCHED : undefined;
    },

    callOf,

    /** For a call made now: the rules that decide it, or why it needs approval although a rule seems to allow it. */
    async explain(session: Session, asked: PermitInput): Promise<Explained> {
      await book.freshen();
      const { set } = await book.holdingIn(session);
      const call = callOf(session, asked);
      const against = set.against(call);
      if (against) return explainedBy(against);
      if (call.hasFailed) return { why: NOT_SEARCHED };
      const withheld = set.withheld(call.place);
      const mayAllow = await grants.mayAllow(set.makers, session);
      const allowing = set.allowing(call, withheld, mayAllow);
      if (allowing) return explainedBy(allowing);
      const doubt = set.doubt(call, withheld, mayAllow);
      return doubt ? { why: doubt.why } : {};
    },

    /** Whether a present rule would match a past call of this session, or overrule the rule that is suggested for it. */
    async coveredNow(session: Session): Promise<(call: JudgedCall) => boolean> {
      const { set } = await book.holdingIn(session);
      const mayAllow = await grants.mayAllow(set.makers, session);
      const withheld = set.withheld(placeOf(session));
      const hasDangers = dangersIn(session);
      const isOverruled = (call: JudgedCall): boolean => {
        if (withheld === undefined) return false;
        const inForce = { withheld, isSuspect: set.suspects(call) };
        return suggestedMatch(call, hasDangers, inForce) !== suggestedMatch(call, hasDangers);
      };
      return (call) =>
        set.against(call) !== undefined || set.allowing(call, withheld, mayAllow) !== undefined || isOverruled(call);
    },
  };

  function callOf(session: Session, { tool_name, input }: PermitInput): JudgedCall {
    return judgedCall({ toolName: tool_name, input }, placeOf(session));
  }
}

/** A rule that finds everything that leads to a path. */
function asRule(match: string): { id: string; pattern: Pattern }[] {
  const read = readMatch(match);
  return "pattern" in read ? [{ id: match, pattern: read.pattern }] : [];
}

/** The version of the rules that were applied, and the shadow rules that would have decided the call. */
type By = { version: number; shadows: CompiledRule[] };
type Used = Pick<Judged, "used" | "counted">;

/** Keeps for each request what shadow rules would have done. Shadow rules without a row are only counted. */
function judgedBy({ version, shadows }: By, { used, counted }: Used): Judged {
  const shadow = usedIn(shadows);
  return { version, used, counted: [...counted, ...shadow.counted], shadows: shadow.used };
}

function byRule({ decision, rules }: Verdict, by: By): Judgement {
  const [first] = rules;
  if (!first) throw new Error("a verdict without a rule");
  const isAllowed = decision === "allow";
  return {
    outcome: {
      status: isAllowed ? "allowed" : "denied",
      responseMessage: isAllowed ? first.reason : first.reason || deniedBy(first),
      interrupt: !isAllowed && first.interrupt,
      resolvedBy: `rule:${first.id}`,
      isBuiltin: false,
    },
    judged: judgedBy(by, usedIn(rules)),
  };
}

function explainedBy({ decision, rules }: Verdict): Explained {
  const match = rules.map((rule) => rule.match).join(", ");
  return decision === "ask" ? { match, why: isRuleAgainst({ match, decision }) } : { match };
}

/** Why a call that this rule matches is not allowed. */
export function isRuleAgainst({ match, decision }: Pick<CompiledRule, "match" | "decision">): string {
  return `${oneLine(match, MAX_MATCH_CHARS)} is a rule to ${decision}`;
}

function byBuiltin(rule: string, denial: string | undefined, by: By): Judgement {
  const resolvedBy = `builtin:${rule}`;
  return {
    outcome: {
      status: denial === undefined ? "allowed" : "denied",
      responseMessage: denial ?? null,
      interrupt: false,
      resolvedBy,
      isBuiltin: true,
    },
    judged: judgedBy(by, { used: [], counted: [resolvedBy] }),
  };
}

/** Rules with a row may run out of uses; for others only the hits are counted. */
function usedIn(rules: readonly CompiledRule[]): Used {
  const ids = (hasRow: boolean) => rules.filter((rule) => rule.hasRow === hasRow).map(({ id }) => id);
  return { used: ids(true), counted: ids(false) };
}

/** The message for the child if the rule gives no reason. */
export function deniedBy({ match }: { match: string }): string {
  return `A rule denies this: ${match}. The tool was not run. Do it in another way, or leave it out.`;
}

/** Whether Plexus judges the calls of this session in its working directory. */
function isSupervised({ config }: Session): boolean {
  return config !== null && config.supervision !== "inherit";
}

/** Elsewhere, relative paths would lead to other files than those that were checked. */
function leavesDirectory({ tool_name, input }: { tool_name: string; input: JsonObject }): boolean {
  if (/^(Enter|Exit)Worktree$/.test(tool_name)) return true;
  return /^(Agent|Task)$/.test(tool_name) && ["isolation", "cwd"].some((key) => (input[key] ?? null) !== null);
}
