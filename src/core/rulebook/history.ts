import { AppError } from "../../contract/refusals/errors.ts";
import type { Contradiction, RuleTested, RuleTestInput, Suggestion } from "../../contract/rules/history-test.ts";
import type { RuleDecision } from "../../contract/rules/rule.ts";
import { oneLine } from "../../contract/text/one-line.ts";
import type { JsonObject } from "../../contract/values.ts";
import { summaryOf } from "../../review/kinds.ts";
import type { PastRequest } from "../../storage/rules.ts";
import type { Storage } from "../../storage/storage.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";
import { coverageNote } from "../rules/matching/coverage-note.ts";
import { createFinder } from "../rules/matching/find.ts";
import { type JudgedCall, judgedCall, type SeenPlace, SHELL_TOOLS, seenPlace } from "../rules/matching/judged-call.ts";
import { type Pattern, readMatch, toolsOf } from "../rules/matching/pattern.ts";
import { createProver, type HasDangers } from "../rules/matching/prove.ts";
import { suggestedMatch } from "../rules/matching/suggest.ts";
import { textAt } from "../rules/tool-keys.ts";
import { NO_CONVERSATION, type Session, type Sessions } from "../sessions/sessions.ts";
import type { Judge } from "./judge.ts";
import { quickLook } from "./quick-look.ts";
import type { Suggestions } from "./suggestions.ts";

/** So many past requests are read at once. */
const BATCH = 500;
/** After so long others get their turn. */
const SLICE_MS = 8;
const MAX_PAST = 200_000;
const MAX_CONTRADICTIONS = 50;
/** Of a call that contradicts, and of its tool's name. */
const MAX_LINE_CHARS = 120;
const MAX_SUGGESTIONS = 10;
/** A rule that would have saved fewer decisions is not worth reading. */
const LEAST_SAVED = 2;
/** So many rules are tried for suggestions, those first that would have saved most. */
const MAX_TRIED = 30;
/** So many different calls of one kind show what could be suggested for it, besides those that come again. */
const MAX_OF_A_KIND = 100;

const NO_RULE = "No rule is about such a call.";

type HistoryNeed = {
  storage: Pick<Storage, "rules">;
  sessions: Pick<Sessions, "get" | "require">;
  judge: Judge;
  suggestions: Pick<Suggestions, "forCall">;
  dangersIn: (session: Session) => HasDangers;
};
/** A past request, and the session that it was made in, while there is one. */
type Past = PastRequest & { session: Session };
type Matches = (past: Past) => boolean;

export type RuleHistory = ReturnType<typeof createRuleHistory>;

/** Tries rules on what was decided before. Paths are judged as they are now. */
export function createRuleHistory({ storage, sessions, judge, suggestions, dangersIn }: HistoryNeed) {
  async function* past(
    principal: Principal,
    sessionId: string | undefined,
    toolNames: string[],
  ): AsyncGenerator<Past[]> {
    const known = new Map<string, Session>();
    const scope = { owner: visibleOwner(principal), sessionId, toolNames, limit: BATCH };
    let before: string | undefined;
    for (let read = 0; read < MAX_PAST; read += BATCH) {
      const rows = await storage.rules.past({ ...scope, before });
      const found: Past[] = [];
      for (const row of rows) {
        // Where a session worked that was deleted is not known any more.
        const session = known.get(row.sessionId) ?? (await sessions.get(row.sessionId)) ?? unknownSession(row);
        known.set(row.sessionId, session);
        found.push({ ...row, session });
      }
      yield found;
      before = rows.at(-1)?.id;
      if (rows.length < BATCH) return;
      await new Promise(setImmediate);
    }
  }

  /** Reads the calls of the past; where they were made is looked at once. */
  function reader(): (past: Past, input: JsonObject) => JudgedCall {
    const seen = new Map<Session, SeenPlace>();
    return ({ session, toolName }, input) => {
      const place = seen.get(session) ?? seenPlace(judge.placeOf(session));
      seen.set(session, place);
      return judgedCall({ toolName, input }, place.place, place);
    };
  }

  function matcherOf(decision: RuleDecision, pattern: Pattern, read = reader()): Matches {
    const provers = new Map<Session, (call: JudgedCall) => boolean>();
    const seen = new Map<string, boolean>();
    const finder = createFinder([{ id: "", pattern }]);
    const mayMatch = quickLook(decision, pattern);
    const proverIn = (session: Session) => {
      const prover = createProver([{ id: "", pattern }], dangersIn(session));
      return (call: JudgedCall) => mayCover(pattern, call) && prover.prove(call, undefined) !== undefined;
    };
    const isMatched = (one: Past, call: JudgedCall): boolean => {
      if (decision !== "allow") return finder.find(call) !== undefined;
      const prove = provers.get(one.session) ?? proverIn(one.session);
      provers.set(one.session, prove);
      return prove(call);
    };
    // A pattern for tools is about their names alone.
    const isNamed = decision !== "allow" && (pattern.kind === "tool" || pattern.kind === "tools");
    return (one) => {
      // Equal calls in one session are judged alike, and so are those that only tell otherwise what they do.
      const key = isNamed ? one.toolName : `${one.sessionId} ${one.askHash}`;
      const known = seen.get(key);
      if (known !== undefined) return known;
      const input = isNamed ? {} : (JSON.parse(one.inputText) as JsonObject);
      if (!isNamed && SHELL_TOOLS.includes(one.toolName) && !mayMatch(textAt(input, "command") ?? "")) {
        seen.set(key, false);
        return false;
      }
      const undescribed = `${one.sessionId} ${one.toolName} ${JSON.stringify({ ...input, description: "" })}`;
      const matches = seen.get(undescribed) ?? isMatched(one, read(one, input));
      seen.set(key, matches);
      seen.set(undescribed, matches);
      return matches;
    };
  }

  /** What each of the rules would have decided, in one look at the past. */
  async function tryRules(
    principal: Principal,
    rules: readonly { decision: RuleDecision; pattern: Pattern }[],
    sessionId: string | undefined,
  ) {
    const read = reader();
    const tried = rules.map(({ decision, pattern }) => {
      const contradictions: Contradiction[] = [];
      const isMatched = matcherOf(decision, pattern, read);
      return { decision, isMatched, decided: 0, contradicted: 0, contradictions };
    });
    const toolNames = rules.map(({ decision, pattern }) => toolsIn(decision, pattern));
    const wanted = toolNames.some((names) => names.length === 0) ? [] : [...new Set(toolNames.flat())];
    const pause = pauses();
    let tested = 0;
    for await (const batch of past(principal, sessionId, wanted)) {
      tested += batch.length;
      for (const one of batch) {
        for (const rule of tried) {
          if (!rule.isMatched(one)) continue;
          rule.decided++;
          if (!contradicts(rule.decision, one)) continue;
          rule.contradicted++;
          if (rule.contradictions.length < MAX_CONTRADICTIONS)
            rule.contradictions.push({ approval_id: one.id, was: one.status, would_be: rule.decision, ...lineOf(one) });
        }
        if (pause.isDue()) await pause.take();
      }
    }
    return { tried, tested };
  }

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
    const has_more = contradicted > contradictions.length;
    return { type: "ok", decided, contradictions, has_more, tested, ...(note !== undefined && { note }) };
  }

  /** What would have been suggested for decisions that no rule makes by now, as far as some of each kind show it. */
  async function likelyMatches(principal: Principal, sessionId: string | undefined): Promise<string[]> {
    const read = reader();
    const saved = new Map<string, number>();
    const refuted = new Set<string>();
    const seen = new Map<string, { match: string | undefined; isRead: boolean; isCovered: boolean }>();
    const covered = new Map<Session, (call: JudgedCall) => boolean>();
    const kinds = new Map<string, number>();
    const pause = pauses();
    for await (const batch of past(principal, sessionId, [])) {
      for (const one of batch) {
        if (!isByPerson(one)) continue;
        const input = JSON.parse(one.inputText) as JsonObject;
        const kind = kindOf(one, input);
        const key = `${kind} ${textAt(input, "command") ?? textAt(input, "file_path") ?? one.askHash}`;
        const known = seen.get(key) ?? { match: undefined, isRead: false, isCovered: false };
        const count = kinds.get(kind) ?? 0;
        if (!known.isRead && (count < MAX_OF_A_KIND || seen.has(key) || one.status === "denied")) {
          kinds.set(kind, count + 1);
          const call = read(one, input);
          known.match = suggestedMatch(call, dangersIn(one.session));
          known.isRead = true;
          const isCovered = covered.get(one.session) ?? (await judge.coveredNow(one.session));
          covered.set(one.session, isCovered);
          known.isCovered = known.match !== undefined && isCovered(call);
        }
        seen.set(key, known);
        if (known.match !== undefined) {
          if (one.status === "denied") refuted.add(known.match);
          else if (!known.isCovered) saved.set(known.match, (saved.get(known.match) ?? 0) + 1);
        }
        if (pause.isDue()) await pause.take();
      }
    }
    return [...saved]
      .filter(([match, count]) => count >= LEAST_SAVED && !refuted.has(match))
      .toSorted(([, a], [, b]) => b - a)
      .map(([match]) => match);
  }

  /** What becomes of a call now. */
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

    /** The few rules that would have saved most decisions, and contradict none. */
    async suggest(principal: Principal, key: string | undefined): Promise<Suggestion[]> {
      const session = key === undefined ? undefined : await sessions.require(principal, key);
      const likely = (await likelyMatches(principal, session?.id)).slice(0, MAX_TRIED).flatMap((match) => {
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

/** The tools whose calls a rule could decide; none are named where that can't be told. */
function toolsIn(decision: RuleDecision, pattern: Pattern): string[] {
  if (decision === "allow") return toolsOf(pattern);
  if (pattern.kind === "fetch") return ["WebFetch"];
  return pattern.kind === "command" ? SHELL_TOOLS : [];
}

/** Whether a command of the line begins with the words of the pattern, as one must that it covers. */
function mayCover(pattern: Pattern, { literal }: JudgedCall): boolean {
  if (pattern.kind !== "command") return true;
  const { words } = pattern.command;
  return literal()?.some((command) => words.every((word, at) => command.words[at] === word)) ?? false;
}

/** The call in a line. */
function lineOf({ toolName, inputText }: PastRequest): Pick<Contradiction, "tool" | "input"> {
  const input = JSON.parse(inputText) as JsonObject;
  return {
    tool: oneLine(toolName, MAX_LINE_CHARS),
    input: oneLine(summaryOf({ tool_name: toolName, input }), MAX_LINE_CHARS),
  };
}

/** Calls of one kind are likely to have the same rule suggested: commands with the same first two words, files side by side. */
function kindOf({ sessionId, toolName }: PastRequest, input: JsonObject): string {
  const front = textAt(input, "command")?.trimStart().split(/\s+/, 2).join(" ");
  const directory = textAt(input, "file_path")?.replace(/[^/]*$/, "");
  return `${sessionId} ${toolName} ${front ?? directory ?? ""}`;
}

/** Tells when others should get their turn. */
function pauses() {
  let since = performance.now();
  return {
    isDue: () => performance.now() - since > SLICE_MS,
    async take() {
      await new Promise(setImmediate);
      since = performance.now();
    },
  };
}

/** Whether somebody has decided otherwise than the rule would. */
function contradicts(decision: RuleDecision, past: PastRequest): boolean {
  if (!isByPerson(past)) return false;
  return (decision === "allow" && past.status === "denied") || (decision === "deny" && past.status === "allowed");
}

/** A person or a parent has decided it: neither a rule nor the time that ran out. */
function isByPerson({ status, resolvedBy }: PastRequest): boolean {
  return (status === "allowed" || status === "denied") && resolvedBy !== "brake" && !resolvedBy?.startsWith("rule:");
}

function unknownSession({ sessionId }: PastRequest): Session {
  return {
    id: sessionId,
    name: "",
    owner: "",
    kind: "by_hand",
    loopbackTimeoutSecs: null,
    createdAt: 0,
    ...NO_CONVERSATION,
  };
}
