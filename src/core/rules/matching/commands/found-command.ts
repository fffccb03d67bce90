import type { Word } from "../../../../review/shell/syntax/parsed-command.ts";
import type { CommandPattern } from "./command-pattern.ts";
import { hasOption, isOption } from "./options/option-names.ts";
import { familyOf, namesOf, spellingsOf } from "./same-commands.ts";
import { isTarget, takesVerb, targetsFrom } from "./targets.ts";

/** A pattern for commands, split into words whose order matters and words whose order does not. */
export type SoughtCommand = {
  /** The name of the program's family. */
  program: string;
  /** Must occur in this order. */
  operands: readonly string[];
  /** May occur anywhere. */
  options: readonly string[];
};

/** `found` is certain; `possible` means that only the program itself knows. */
export type HowFound = "found" | "possible" | undefined;

/**
 * The commands that a pattern looks for: the same command under each of its names. Words after the pattern do not
 * matter.
 */
export function soughtCommands({ words }: CommandPattern): SoughtCommand[] {
  const [program = "", ...rest] = words;
  const options = rest.filter(isOption);
  return spellingsOf([nameOf(program), ...rest.filter((word) => !isOption(word))]).map(([name = "", ...operands]) => ({
    program: name,
    operands,
    options,
  }));
}

/** Names in lower case. The pattern can only find programs whose name contains one of them. */
export function programsOf(pattern: CommandPattern): string[] {
  return [...new Set(soughtCommands(pattern).flatMap(({ program }) => namesOf(program)))];
}

/** Normalizes a program's name as `programCall` does. */
function nameOf(program: string): string {
  return familyOf(program.slice(program.lastIndexOf("/") + 1).toLowerCase());
}

/**
 * Whether a command matches the sought one: its operands start with the sought ones, and it has the sought options in
 * any order and spelling. Options may stand between the operands, each with one word that could be its value. For
 * programs that take several targets, the target may be any of them.
 */
export function howFound(
  sought: SoughtCommand,
  { args }: { args: readonly Pick<Word, "value" | "isDynamic">[] },
): HowFound {
  const known = args.map(({ value }) => value);
  const how = howFoundIn(sought, known) ?? (mayPush(sought, known) ? "possible" : undefined);
  if (how !== undefined || !args.some(({ isDynamic }) => isDynamic)) return how;
  // A word that is unknown before the command runs could be any missing one.
  const given = args.map(({ value, isDynamic }) => (isDynamic && !isOption(value) ? ANY : value));
  const is = (word: string, wanted: string) => word === ANY || isTarget(sought.program, word, wanted);
  return startsWith(sought.operands, given, is) ? "possible" : undefined;
}

/** Stands for an unknown word. No real word contains a zero byte. */
const ANY = "\0";

function howFoundIn({ program, operands, options }: SoughtCommand, given: readonly string[]): HowFound {
  if (!options.every((option) => hasOption(program, given, option))) return undefined;
  const is = (word: string, sought: string) => isTarget(program, word, sought);
  if (startsWith(operands, given, is)) return "found";
  const from = targetsFrom(program, operands);
  if (from !== undefined && startsWith(operands.slice(0, from), given, is) && hasInOrder(operands, given, is))
    return "found";
  // A later word may be an operand, or only the value of an option.
  const front = takesVerb(program) ? operands.slice(0, 1) : [];
  if (operands.length <= front.length || !startsWith(front, given, is)) return undefined;
  return hasInOrder(operands, given, is) ? "possible" : undefined;
}

/** Whether git would push to the sought remote while only its settings or the repository determine the branches. */
function mayPush({ program, operands, options }: SoughtCommand, given: readonly string[]): boolean {
  const [verb, remote = "", ...refs] = operands;
  const at = given.indexOf("push");
  if (program !== "git" || verb !== "push" || remote === "") return false;
  if (!startsWith([verb], given, (word, wanted) => word === wanted)) return false;
  if (!options.every((option) => hasOption(program, given, option))) return false;
  const words = given.slice(at + 1);
  const [to, ...named] = words.filter((word) => !isOption(word));
  if (to === undefined) return true;
  if (refs.length === 0 || ![to, ...named].includes(remote)) return false;
  const isAnyBranch = words.some((word) => /^--(?:al|mi|br)|^\+?(?:HEAD|@|:)$|\*/.test(word));
  return isAnyBranch || named.length === 0;
}

type IsWord = (word: string, sought: string) => boolean;

/** Follows all interpretations at once: the word after an option may be its value or an operand. */
function startsWith(operands: readonly string[], given: readonly string[], is: IsWord): boolean {
  let reached = new Set([0]);
  let afterOption = false;
  for (const word of given) {
    if (reached.has(operands.length)) return true;
    const next = new Set<number>();
    const values = valuesIn(word);
    for (const at of reached) {
      const sought = operands[at] ?? "";
      if (values ? values.some((value) => is(value, sought)) : is(word, sought)) next.add(at + 1);
      if (afterOption || values) next.add(at);
    }
    if (next.size === 0) return false;
    reached = next;
    afterOption = values !== undefined;
  }
  return reached.has(operands.length);
}

/** Whether the given words contain all operands in this order, with any words between them. */
function hasInOrder(operands: readonly string[], given: readonly string[], is: IsWord): boolean {
  let at = 0;
  for (const word of given) {
    if ((valuesIn(word) ?? [word]).some((value) => is(value, operands[at] ?? ""))) at++;
    if (at === operands.length) return true;
  }
  return at === operands.length;
}

/**
 * The values that an option may carry in the same word, as in `--name=value` or `-nvalue`; `undefined` for other words.
 */
export function valuesIn(word: string): string[] | undefined {
  if (!isOption(word)) return undefined;
  const equals = word.indexOf("=");
  const value = equals < 0 ? [] : [word.slice(equals + 1)];
  return word.startsWith("--") ? value : [...value, word.slice(2)].filter((one) => one !== "");
}
