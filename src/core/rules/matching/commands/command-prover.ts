import type { SimpleCommand } from "../../../../review/shell/index.ts";
import type { ReadableFiles } from "../../readable-files.ts";
import { type CommandPattern, coversCommand } from "./command-pattern.ts";

/** A trie of patterns: one level for each word. */
type Node = { next: Map<string, Node>; exact: number | undefined; wild: number | undefined };
type Placed = { order: number; command: CommandPattern };

/** Builtins that change the shell itself. Only a pattern that names one covers it. */
const CHANGES_SHELL = new Set(
  "export declare typeset readonly local set shopt unset read mapfile readarray bind complete compgen compopt hash enable alias unalias trap ulimit umask let getopts setopt unsetopt autoload zmodload bindkey emulate history fc jobs fg bg wait disown kill exit logout return break continue shift".split(
    " ",
  ),
);

/** Finds the pattern that covers a command. `any` is the order of a rule for all commands. */
export function commandProver(all: readonly Placed[], any: number | undefined) {
  const root: Node = { next: new Map(), exact: undefined, wild: undefined };
  for (const { order, command } of all) {
    let node = root;
    for (const word of command.words) {
      const child = node.next.get(word) ?? { next: new Map(), exact: undefined, wild: undefined };
      node.next.set(word, child);
      node = child;
    }
    if (command.hasWildcard) node.wild ??= order;
    else node.exact ??= order;
  }

  /** The patterns whose words begin the command: the exact one first, then the longest. */
  const candidates = (words: readonly string[]): { order: number; length: number; hasWildcard: boolean }[] => {
    const found: ReturnType<typeof candidates> = [];
    if (any !== undefined && isPlainProgram(words[0])) found.push({ order: any, length: 0, hasWildcard: true });
    let node: Node | undefined = root;
    for (let length = 0; node; node = node.next.get(words[length++] ?? "")) {
      if (node.wild !== undefined) found.push({ order: node.wild, length, hasWildcard: true });
      if (length < words.length) continue;
      if (node.exact !== undefined) found.push({ order: node.exact, length, hasWildcard: false });
      break;
    }
    return found.reverse();
  };

  /** The order of the rule that covers a command which runs in the working directory. */
  return (command: SimpleCommand, source: string, files: ReadableFiles): number | undefined => {
    const words = command.words.map(({ value }) => value);
    return candidates(words).find(({ length, hasWildcard }) =>
      coversCommand({ words: words.slice(0, length), hasWildcard }, command, source, files),
    )?.order;
  };
}

/** Whether the program is given by its bare name: a path could lead to any script. */
export function isPlainProgram(program: string | undefined): boolean {
  return program !== undefined && /^[A-Za-z0-9][\w.+-]*$/.test(program) && !CHANGES_SHELL.has(program);
}
