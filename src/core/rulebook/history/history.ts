import { AppError } from "../../../contract/refusals/errors.ts";
import type { Contradiction, RuleTested, RuleTestInput, Suggestion } from "../../../contract/rules/history-test.ts";
import type { RuleDecision } from "../../../contract/rules/rule.ts";
import { oneLine } from "../../../contract/text/one-line.ts";
import { summaryOf } from "../../../review/kinds.ts";
import type { Principal } from "../../access/principals.ts";
import { coverageNote } from "../../rules/matching/coverage-note.ts";
import { readMatch } from "../../rules/matching/pattern.ts";
import type { Sessions } from "../../sessions/sessions.ts";
import type { Judge } from "../judge.ts";
import type { Suggestions } from "../suggestions.ts";
import { createLikelyMatches } from "./likely-matches.ts";
import type { Outlines } from "./outlines.ts";
import type { Past, PastCalls } from "./past-calls.ts";
import { createTriedRules } from "./tried-rules.ts";

/** The limit for the line of a contradicting call, and for the name of its tool. */
const MAX_LINE_CHARS = 120;
const MAX_SUGGESTIONS = 10;
/** The most rules to try for suggestions, starting with those that would have saved the most decisions. */
const MAX_TRIED = 30;

const NO_RULE = "No rule is about such a call.";

type HistoryNeed = {
  past: PastCalls;
  sessions: Pick<Sessions, "require">;
  judge: Judge;
  suggestions: Pick<Suggestions, "forCall">;
  outlines: Outlines;
};

export type RuleHistory = ReturnType<typeof createRuleHistory>;

/** Tries rules on past decisions. */
export function createRuleHistory({ past, sessions, judge, suggestions, outlines }: HistoryNeed) {
  const tryRules = createTriedRules({ past, outlines });
  const likelyMatches = createLikelyMatches({ past, outlines, judge });

  async function testRule(
    principal: Principal,
    { decision, match }: { decision: RuleDecision; match: string },
    sessionId: string | undefined,
  ): Promise<RuleTested> {
    const read = readMatch(match);
    if ("problem" in read) throw new AppError("invalid_arguments", `match ${read.problem}.`, { quotes: true });
    const { tried, tested } = await tryRules(principal, [{ decision, pattern: read.pattern }], sessionId);
    const [{ decided = 0, contradicted = 0, contradictions = [] } = {}] = tried;
    const note = coverageNote(decision, match, read.pattern);
    return {
      type: "ok",
      decided,
      contradictions: await shown(decision, contradictions),
      has_more: contradicted > contradictions.length,
      tested,
      ...(note !== undefined && { note }),
    };
  }

  async function shown(would_be: RuleDecision, contradictions: readonly Past[]): Promise<Contradiction[]> {
    const found: Contradiction[] = [];
    for await (const [{ id, status, toolName }, input] of past.withInputs(contradictions)) {
      const summary = oneLine(summaryOf({ tool_name: toolName, input }), MAX_LINE_CHARS);
      found.push({ approval_id: id, was: status, would_be, tool: oneLine(toolName, MAX_LINE_CHARS), input: summary });
    }
    return found;
  }

  /** What the present rules decide about a call. */
  async function testCall(principal: Principal, key: string | undefined, asked: { tool_name: string; input: object }) {
    if (key === undefined)
      throw new AppError("invalid_arguments", "session_id is missing: say in which session the call would be made.");
    const session = await sessions.require(principal, key);
    const { outcome, judged } = await judge.judge(session, { ...asked, input: { ...asked.input } });
    const [asking] = [...judged.used, ...judged.counted];
    const would_be: RuleDecision = outcome === undefined ? "ask" : outcome.status === "allowed" ? "allow" : "deny";
    const by = outcome?.resolvedBy ?? (asking === undefined ? undefined : `rule:${asking}`);
    const { match, why = NO_RULE } = await judge.explain(session, { ...asked, input: { ...asked.input } });
    const decided = outcome === undefined ? 0 : 1;
    const offer = would_be === "ask" ? await suggestions.forCall(session, { ...asked, input: { ...asked.input } }) : {};
    return {
      type: "ok" as const,
      decided,
      contradictions: [],
      has_more: false,
      would_be,
      ...(by !== undefined && { by }),
      ...(match !== undefined && by?.startsWith("rule:") && { match }),
      ...(would_be === "ask" && { why }),
      ...offer,
    };
  }

  return {
    async test(principal: Principal, given: RuleTestInput): Promise<RuleTested> {
      const { decision, match, session_id, tool_name, input } = given;
      if (tool_name !== undefined && input !== undefined) return testCall(principal, session_id, { tool_name, input });
      if (decision === undefined || match === undefined)
        throw new AppError("invalid_arguments", "Give a rule (decision and match), or a call (tool_name and input).");
      const session = session_id === undefined ? undefined : await sessions.require(principal, session_id);
      return testRule(principal, { decision, match }, session?.id);
    },

    /** The few rules that would have saved the most decisions and contradict none. */
    async suggest(principal: Principal, key: string | undefined): Promise<Suggestion[]> {
      const session = key === undefined ? undefined : await sessions.require(principal, key);
      const likely = (await likelyMatches(principal, session?.id, MAX_TRIED)).flatMap((match) => {
        const read = readMatch(match);
        return "pattern" in read ? [{ decision: "allow" as const, match, pattern: read.pattern }] : [];
      });
      if (likely.length === 0) return [];
      const { tried } = await tryRules(principal, likely, session?.id);
      return likely
        .flatMap(({ match }, at): Suggestion[] => {
          const { decided = 0, contradicted = 1 } = tried[at] ?? {};
          return contradicted === 0 ? [{ rule: { decision: "allow", match }, decided, contradictions: 0 }] : [];
        })
        .toSorted((a, b) => b.decided - a.decided)
        .slice(0, MAX_SUGGESTIONS);
    },
  };
}
