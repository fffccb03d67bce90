import { forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";
import { simpleCommand } from "./simple-command.ts";
import { tooTangled } from "./tangle.ts";

/** A word as it stands in the command, and what the shell makes of it as far as that is known before it runs. */
export type Word = { text: string; value: string; isDynamic: boolean; pos: number; end: number };
export type Redirect = { operator: string; writes: boolean; target: Word | undefined };
export type Assignment = { name: string; value: Word | undefined };

/** One program with its arguments, wherever in the text it stands. */
export type SimpleCommand = {
  assignments: Assignment[];
  /** The program first. */
  words: Word[];
  redirects: Redirect[];
  /** What another command prints is its input. */
  isFed: boolean;
  /** Its output, or what it does, becomes a part of another command. */
  isSubstituted: boolean;
};

/** A command taken apart. Where `problems` says something, the parts are not the whole of it. */
export type Reading = { source: string; commands: SimpleCommand[]; problems: string[]; tree: ParsedScript | undefined };

/** Takes a command of a shell apart; never throws, whatever it is given, and never takes long. */
export function readCommand(source: string): Reading {
  const refusal = tooTangled(source);
  if (refusal) return { source, commands: [], problems: [refusal], tree: undefined };
  try {
    const tree = parse(source);
    const reading: Reading = { source, commands: [], problems: [], tree };
    collect(tree, { isFed: false, isSubstituted: false }, reading);
    return reading;
  } catch (cause) {
    return { source, commands: [], problems: [`it can't be taken apart (${String(cause)})`], tree: undefined };
  }
}

type Place = Pick<SimpleCommand, "isFed" | "isSubstituted">;

/** Walks with a stack of its own: hostile text nests deeper than a call stack. */
function collect(root: SyntaxNode, from: Place, reading: Reading): void {
  const waiting: { node: SyntaxNode; place: Place }[] = [{ node: root, place: from }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, place } = next;
    if (node.type === "Script") reading.problems.push(...(node.errors ?? []).map(({ message }) => message));
    if (node.type === "Command") reading.commands.push({ ...simpleCommand(node), ...place });
    const children: typeof waiting = [];
    forEachChild(node, (child) => children.push({ node: child, place: placeOf(child, node, place) }));
    waiting.push(...children.reverse());
  }
}

function placeOf(child: SyntaxNode, parent: SyntaxNode, place: Place): Place {
  if (parent.type === "Pipeline") return { ...place, isFed: place.isFed || child !== parent.commands[0] };
  if (child.type === "Script") return { isFed: false, isSubstituted: true };
  return place;
}
