import type { RuleDecision } from "../../../contract/rules/rule.ts";
import { fitting, listedChars } from "../../../contract/text/fit.ts";
import { namedList } from "../named-list.ts";
import { EDITORS } from "../tool-kinds.ts";
import { problemOfCommand } from "./commands/command-pattern.ts";
import type { Pattern } from "./pattern.ts";
import { ALWAYS_ASKED } from "./prove.ts";
import { knownTools, readMcpTools } from "./tool-name.ts";

/** The limit for all notes on the rules of one session together. */
const MAX_CHARS = 1_200;

const COMMANDS =
  "commands that raise a danger, redirects to files, programs that connect to other machines, shells, interpreters and programs that run others, and anything with variables, substitutions or other syntax of a shell";
/** The same for a pattern that names a program. */
const WORDS =
  "redirects to files, options that may run, load or write something, and anything with variables, other syntax of a shell or a danger";
const FILES = "files that control programs or hold credentials (.git, .npmrc, .env and the like)";
const EDITS = `edits of ${FILES}`;
const SERVERS = "the tools of MCP servers";
const UNKNOWN_TOOLS = "tools that Plexus does not know";

const ANSWERED = "somebody answers such a call each time";
const NO_SERVER = "name the server whose tools are meant, as in mcp__github__get_*";
const NO_SUCH_TOOL = "no tool that Plexus knows has such a name";
const NO_BASH = "a command of another tool than Bash always asks";

/**
 * Says in plain words what a new rule will not allow although its match suggests it; `undefined` if there is nothing to
 * say.
 */
export function coverageNote(decision: RuleDecision, match: string, pattern: Pattern): string | undefined {
  const limits = limitsOf(decision, match, pattern);
  return limits && `It ${ONE[limits.kind]} ${limits.what}.`;
}

/**
 * The same for several rules: one sentence for each reason, of bounded length. Only the quoted matches contain text
 * from outside.
 */
export function coverageNotes(rules: readonly { decision: RuleDecision; match: string; pattern: Pattern }[]): string[] {
  const kinds = Map.groupBy(rules, ({ decision, match, pattern }) => {
    const limits = limitsOf(decision, match, pattern);
    return limits && JSON.stringify(limits);
  });
  const said = [...kinds].flatMap(([limits, alike]) => {
    if (limits === undefined) return [];
    const { kind, what }: Limits = JSON.parse(limits);
    const matches = [...new Set(alike.map(({ match }) => match))];
    return [`rules ${namedList(matches)} ${(matches.length > 1 ? SEVERAL : ONE)[kind]} ${what}.`];
  });
  return fitting(said, MAX_CHARS, listedChars);
}

type Limits = { kind: "nothing" | "less"; what: string };
const ONE: Record<Limits["kind"], string> = { nothing: "allows nothing:", less: "does not allow" };
const SEVERAL: Record<Limits["kind"], string> = { nothing: "allow nothing:", less: "do not allow" };

function limitsOf(decision: RuleDecision, match: string, pattern: Pattern): Limits | undefined {
  // Deny and ask rules find their target anywhere in a call, so they need no note.
  if (decision !== "allow") return undefined;
  const nothing = problemOf(match, pattern);
  if (nothing !== undefined) return { kind: "nothing", what: nothing };
  const left = leftOut(pattern);
  return left.length === 0 ? undefined : { kind: "less", what: `${left.join("; ")}: these still ask` };
}

/** Why the rule covers no call at all, in words that follow "it allows nothing:". */
function problemOf(match: string, pattern: Pattern): string | undefined {
  switch (pattern.kind) {
    case "command":
      return problemOfCommand(/^Bash\((.*)\)$/s.exec(match)?.[1] ?? "");
    case "tool":
      if (ALWAYS_ASKED.includes(pattern.name)) return ANSWERED;
      return pattern.name === "Monitor" ? NO_BASH : undefined;
    case "tools":
      if (pattern.glob.startsWith("mcp__")) return isOfServer(pattern.glob) ? undefined : NO_SERVER;
      return knownTools(pattern.glob).length === 0 ? NO_SUCH_TOOL : undefined;
    default:
      return undefined;
  }
}

/** The calls that the rule leaves out, for patterns without exact words, a file or a host. */
function leftOut(pattern: Pattern): string[] {
  if (pattern.kind === "command") return pattern.command.hasWildcard ? [WORDS] : [];
  if (pattern.kind === "file") return isEveryFile(pattern.path.names) ? [FILES] : [];
  if (pattern.kind !== "tool" && pattern.kind !== "tools") return [];
  if (pattern.kind === "tools" && pattern.glob.startsWith("mcp__")) return [];
  const tools = pattern.kind === "tool" ? [pattern.name] : knownTools(pattern.glob);
  return [
    ...(tools.includes("Bash") ? [COMMANDS] : []),
    ...(tools.some((tool) => EDITORS.includes(tool)) ? [EDITS] : []),
    ...(pattern.kind === "tools" ? [SERVERS, UNKNOWN_TOOLS] : []),
  ];
}

function isEveryFile(names: readonly string[]): boolean {
  return names.length === 1 && names[0] === "**";
}

function isOfServer(glob: string): boolean {
  return readMcpTools(glob)?.start?.includes("__") === false;
}
