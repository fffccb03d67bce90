import { forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";
import { evaluationIn } from "../programs/evaluations.ts";
import { tooTangled } from "./parse-limits.ts";
import { simpleCommand, toRedirect } from "./simple-command.ts";

/** A word as it stands in the command, and what the shell makes of it as far as that is known before it runs. */
export type Word = { text: string; value: string; isDynamic: boolean; pos: number; end: number };
/** `body` is what a here-document or a here-string holds. */
export type Redirect = { operator: string; writes: boolean; target: Word | undefined; body: Word | undefined };
export type Assignment = { name: string; value: Word | undefined };

/** One program with its arguments, wherever in the text it stands; without one, what is assigned or redirected. */
export type SimpleCommand = {
  assignments: Assignment[];
  /** The program first. */
  words: Word[];
  redirects: Redirect[];
  /** What another command prints is its input. */
  isFed: boolean;
  /** Its output, or what it does, becomes a part of another command. */
  isSubstituted: boolean;
  /** Nothing waits for its end. */
  isBackground: boolean;
};

/** A command taken apart. Where `problems` says something, the parts are not the whole of it. */
export type Reading = {
  source: string;
  commands: SimpleCommand[];
  /** The names of the functions that it defines. */
  functions: string[];
  /** The variables that its loops set. */
  variables: string[];
  /** Texts that the shell evaluates, and so runs, without their looking like commands. */
  evaluations: string[];
  problems: string[];
  tree: ParsedScript | undefined;
};

/** Takes a command of a shell apart; never throws, whatever it is given, and never takes long. */
export function readCommand(source: string): Reading {
  const found = { functions: [], variables: [], evaluations: [], problems: [] };
  const reading: Reading = { source, commands: [], ...found, tree: undefined };
  const refusal = tooTangled(source);
  if (refusal) return { ...reading, problems: [refusal] };
  try {
    const tree = parse(source);
    collect(tree, reading);
    return { ...reading, tree };
  } catch (cause) {
    return { ...reading, commands: [], problems: [`can't be taken apart: ${String(cause)}`] };
  }
}

type Place = Pick<SimpleCommand, "isFed" | "isSubstituted" | "isBackground">;

/** Walks with a stack of its own: hostile text nests deeper than a call stack. */
function collect(root: SyntaxNode, reading: Reading): void {
  const place: Place = { isFed: false, isSubstituted: false, isBackground: false };
  const waiting: { node: SyntaxNode; place: Place }[] = [{ node: root, place }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    note(next.node, next.place, reading);
    const { node, place } = next;
    const children: typeof waiting = [];
    forEachChild(node, (child) => children.push({ node: child, place: placeOf(child, node, place) }));
    for (const child of children.reverse()) waiting.push(child);
  }
}

function note(node: SyntaxNode, place: Place, reading: Reading): void {
  if (node.type === "Script") {
    for (const { message } of node.errors ?? []) reading.problems.push(`can't be taken apart: ${message}`);
  }
  if (node.type === "Command") reading.commands.push({ ...simpleCommand(node), ...place });
  if (node.type === "Redirected") {
    reading.commands.push({ words: [], assignments: [], redirects: node.redirects.map(toRedirect), ...place });
  }
  if (node.type === "Function") reading.functions.push(node.name.value);
  if (node.type === "For" || node.type === "Select") reading.variables.push(node.name.value);
  const evaluation = evaluationIn(node);
  if (evaluation !== undefined) reading.evaluations.push(evaluation);
}

function placeOf(child: SyntaxNode, parent: SyntaxNode, place: Place): Place {
  if (child.type === "Script") return { isFed: false, isSubstituted: true, isBackground: false };
  if (parent.type === "Pipeline") return { ...place, isFed: place.isFed || child !== parent.commands[0] };
  if (parent.type === "Statement" && parent.background) return { ...place, isBackground: true };
  if (parent.type === "Redirected" && parent.redirects.some(({ operator }) => operator.startsWith("<"))) {
    return { ...place, isFed: true };
  }
  return place;
}
