import { forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";
import { evaluationIn } from "../programs/evaluations.ts";
import { limitExceededBy } from "./parse-limits.ts";
import { simpleCommand, toRedirect } from "./simple-command.ts";

/** A word as written (`text`), and its value as far as it is known before the command runs. */
export type Word = { text: string; value: string; isDynamic: boolean; pos: number; end: number };
/** `body` is the content of a here-document or a here-string. */
export type Redirect = {
  /** What stands before the operator: `2` in `2>&1`, `{fd}` in `{fd}>x`. */
  descriptor: string;
  operator: string;
  /** The descriptor that it duplicates: `1` in `2>&1`; it has no target then. */
  duplicates: string;
  writes: boolean;
  target: Word | undefined;
  body: Word | undefined;
};
export type Assignment = { name: string; value: Word | undefined };

/** One program with its arguments, anywhere in the text; without a program, only assignments or redirects. */
export type SimpleCommand = {
  assignments: Assignment[];
  /** The first word is the program. */
  words: Word[];
  redirects: Redirect[];
  /** Whether a pipe or a redirect gives it input. */
  hasInput: boolean;
  /** Whether it runs inside a substitution, so that its output becomes part of another command. */
  isSubstituted: boolean;
  /** Whether the shell doesn't wait for it to end. */
  isBackground: boolean;
};

/** A parsed command line. If there are `problems`, its parts are incomplete. */
export type ParsedCommand = {
  source: string;
  commands: SimpleCommand[];
  /** The names of the functions that it defines. */
  functions: string[];
  /** The variables that its loops set. */
  variables: string[];
  /** Texts that the shell evaluates and runs, although they don't look like commands. */
  evaluations: string[];
  problems: string[];
  tree: ParsedScript | undefined;
};

/** Parses a shell command. Never throws, and never takes long. */
export function parseCommand(source: string): ParsedCommand {
  const found = { functions: [], variables: [], evaluations: [], problems: [] };
  const parsed: ParsedCommand = { source, commands: [], ...found, tree: undefined };
  const excess = limitExceededBy(source);
  if (excess) return { ...parsed, problems: [excess] };
  try {
    const tree = parse(source);
    collect(tree, parsed);
    return { ...parsed, tree };
  } catch (cause) {
    return { ...parsed, commands: [], problems: [`can't be parsed: ${String(cause)}`] };
  }
}

type Usage = Pick<SimpleCommand, "hasInput" | "isSubstituted" | "isBackground">;

/** Uses its own stack: hostile text may nest deeper than the call stack allows. */
function collect(root: SyntaxNode, parsed: ParsedCommand): void {
  const usage: Usage = { hasInput: false, isSubstituted: false, isBackground: false };
  const waiting: { node: SyntaxNode; usage: Usage }[] = [{ node: root, usage }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    record(next.node, next.usage, parsed);
    const { node, usage } = next;
    const children: typeof waiting = [];
    forEachChild(node, (child) => children.push({ node: child, usage: usageOf(child, node, usage) }));
    for (const child of children.reverse()) waiting.push(child);
  }
}

function record(node: SyntaxNode, usage: Usage, parsed: ParsedCommand): void {
  if (node.type === "Script") {
    for (const { message } of node.errors ?? []) parsed.problems.push(`can't be parsed: ${message}`);
  }
  if (node.type === "Command") parsed.commands.push({ ...simpleCommand(node), ...usage });
  if (node.type === "Redirected") {
    parsed.commands.push({ words: [], assignments: [], redirects: node.redirects.map(toRedirect), ...usage });
  }
  if (node.type === "Function") parsed.functions.push(node.name.value);
  if (node.type === "For" || node.type === "Select") parsed.variables.push(node.name.value);
  const evaluation = evaluationIn(node);
  if (evaluation !== undefined) parsed.evaluations.push(evaluation);
}

function usageOf(child: SyntaxNode, parent: SyntaxNode, usage: Usage): Usage {
  if (child.type === "Script") return { hasInput: false, isSubstituted: true, isBackground: false };
  if (parent.type === "Pipeline") return { ...usage, hasInput: usage.hasInput || child !== parent.commands[0] };
  if (parent.type === "Statement" && parent.background) return { ...usage, isBackground: true };
  if (parent.type === "Redirected" && parent.redirects.some(({ operator }) => operator.startsWith("<"))) {
    return { ...usage, hasInput: true };
  }
  return usage;
}
