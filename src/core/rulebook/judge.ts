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
import type { WithheldFiles } from "../rules/withheld-files.ts";
import type { Session } from "../sessions/sessions.ts";
import type { Grants } from "./grants.ts";
import type { RuleBook } from "./rule-book.ts";
import type { CompiledRule, Verdict } from "./rule-set.ts";

type JudgeNeed = {
  book: RuleBook;
  grants: Grants;
  /** Files and directories that no child may read, by whatever path. */
  privatePaths: string[];
  home: string;
  /** The `PATH` of the shell that starts a child. */
  path: string;
};

/** What the rules decide; without an outcome somebody has to be asked. */
export type Judgement = { outcome: RuleOutcome | undefined; judged: Judged };

/** What rules decide, by their matches; or in a sentence why somebody is asked, which may quote the call. */
export type Explained = { match?: string; why?: string };

export type Judge = ReturnType<typeof createJudge>;

const ANOTHER_DIRECTORY =
  "Plexus does not let a child work in another directory than its own: its calls could not be judged there. Work here, or ask for a session there.";

const MAX_MATCH_CHARS = 80;
export const NOT_SEARCHED = "it could not be searched for what is denied: its paths lead too far.";
const NAMES_PRIVATE = "it names a file of Plexus, or one that holds tokens, which no child may read or change.";

/** What is decided without asking anybody: by a rule, or because it was proven to only read. The strictest rule wins. */
export function createJudge({ book, grants, privatePaths, home, path }: JudgeNeed) {
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

  /** What needs nobody: proven by a built-in rule, or allowed by name by the session's creator, as far as it may. */
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
    // Of a claude that was started elsewhere by hand nobody knows where it works.
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
      // What could not be searched through for rules against it is not allowed without asking either.
      if (against || call.hasFailed) return { outcome: undefined, judged: judgedBy(by, usedIn(against?.rules ?? [])) };
      const rule = await builtin(session, call, withheld, () => set.suspects(call));
      if (rule !== undefined) return byBuiltin(rule, undefined, by);
      const allowing = set.allowing(call, withheld, mayAllow);
      if (allowing) return byRule(allowing, by);
      return { outcome: undefined, judged: judgedBy(by, usedIn([])) };
    },

    /**
     * Why a call may not run, whoever allows it: a rule denies it, it leaves its directory, or it names what no child may
     * read. For an input that somebody has edited: the CLI holds only what was asked to its own rules.
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

    /** Of a call that is judged now: the rules that decide it, or why somebody is asked although a rule looks as if it allowed it. */
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

    /** Whether a rule that holds now would decide a call of the past in this session, or ask about it. */
    async coveredNow(session: Session): Promise<(call: JudgedCall) => boolean> {
      const { set } = await book.holdingIn(session);
      const mayAllow = await grants.mayAllow(set.makers, session);
      const withheld = set.withheld(placeOf(session));
      return (call) => set.against(call) !== undefined || set.allowing(call, withheld, mayAllow) !== undefined;
    },
  };

  function callOf(session: Session, { tool_name, input }: PermitInput): JudgedCall {
    return judgedCall({ toolName: tool_name, input }, placeOf(session));
  }
}

/** A rule that finds what leads to a path. */
function asRule(match: string): { id: string; pattern: Pattern }[] {
  const read = readMatch(match);
  return "pattern" in read ? [{ id: match, pattern: read.pattern }] : [];
}

/** By which version of the rules, and which in shadow mode would have decided too. */
type By = { version: number; shadows: CompiledRule[] };
type Used = Pick<Judged, "used" | "counted">;

/** What a rule in shadow mode would have done is held beside each request; one without a row is only counted. */
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

/** Why a call is not allowed that this rule was found in. */
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

/** Rules with a row are used up; of others it is only counted how often they decide. */
function usedIn(rules: readonly CompiledRule[]): Used {
  const ids = (hasRow: boolean) => rules.filter((rule) => rule.hasRow === hasRow).map(({ id }) => id);
  return { used: ids(true), counted: ids(false) };
}

/** What the child is told of a rule that gives no reason. */
export function deniedBy({ match }: { match: string }): string {
  return `A rule denies this: ${match}. The tool was not run. Do it in another way, or leave it out.`;
}

/** Whether the calls of this session are judged where it works. */
function isSupervised({ config }: Session): boolean {
  return config !== null && config.supervision !== "inherit";
}

/** Relative paths would mean something else there than what is proven here. */
function leavesDirectory({ tool_name, input }: { tool_name: string; input: JsonObject }): boolean {
  if (/^(Enter|Exit)Worktree$/.test(tool_name)) return true;
  return /^(Agent|Task)$/.test(tool_name) && ["isolation", "cwd"].some((key) => (input[key] ?? null) !== null);
}
