import type { Word } from "../../../../review/shell/syntax/parsed-command.ts";
import { firstOf } from "../first-order.ts";
import type { CommandPattern } from "./command-pattern.ts";
import { type HowFound, howFound, type SoughtCommand, soughtCommands, valuesIn } from "./found-command.ts";
import { hasTooManyWords, mentionsInCode, possibleRuns } from "./possible-runs.ts";
import { mayBeAlias, readingsOf } from "./readings.ts";
import { familyOf } from "./same-commands.ts";
import { runsUnknownText, type StartedCommand } from "./started-commands.ts";
import { namesIn } from "./targets.ts";

/** A command that the rule at this place in the given order looks for. */
type Sought = { order: number; command: SoughtCommand };

/** The parts of a command that the finder compares. */
export type Reading = {
  program: string;
  words: readonly Pick<Word, "isDynamic">[];
  args: readonly Pick<Word, "value" | "isDynamic">[];
};

/** Indexes patterns for commands by the program and the first of their operands. */
export function commandFinder(all: readonly { order: number; command: CommandPattern }[]) {
  const index = new Map<string, Map<string, Sought[]>>();
  for (const { order, command: pattern } of all) {
    for (const command of soughtCommands(pattern)) {
      const programs = index.get(command.program) ?? new Map<string, Sought[]>();
      index.set(command.program, programs);
      const first = command.operands[0] ?? "";
      const same = programs.get(first);
      if (same) same.push({ order, command });
      else programs.set(first, [{ order, command }]);
    }
  }

  /** The first rule that finds the command with this degree of certainty. */
  const search = (command: Reading, how: NonNullable<HowFound>): number | undefined => {
    const program = familyOf(command.program);
    const patterns = command.words[0]?.isDynamic ? undefined : index.get(program);
    if (!patterns) return undefined;
    let least: number | undefined;
    const isAnyWord = how === "possible" && command.args.some(({ isDynamic }) => isDynamic);
    for (const same of isAnyWord ? patterns.values() : candidates(program, patterns, command)) {
      for (const { order, command: sought } of same) {
        if ((least === undefined || order < least) && howFound(sought, command) === how) least = order;
      }
    }
    return least;
  };

  const isSought = (name: string) => index.has(familyOf(name));

  return {
    isEmpty: index.size === 0,
    /** The first rule that finds one of the commands. */
    find: (commands: readonly StartedCommand[]): number | undefined =>
      index.size === 0
        ? undefined
        : firstOf(commands.flatMap(({ command }) => readingsOf(command).map((one) => search(one, "found")))),
    /** The first rule that certainly finds one of these readings. */
    findRead: (readings: readonly Reading[]): number | undefined =>
      firstOf(readings.map((one) => search(one, "found"))),

    /** Whether one of the commands could be a command that a rule looks for, or could run one. */
    suspects: (commands: readonly StartedCommand[]): boolean =>
      index.size > 0 &&
      commands.some(({ command }) => {
        if (command.words[0]?.isDynamic || runsUnknownText(command)) return true;
        if (mayBeAlias(command) && index.has("git")) return true;
        if (search(command, "possible") !== undefined) return true;
        if (hasTooManyWords(command) || mentionsInCode(command, isSought)) return true;
        return possibleRuns(command, isSought).some(
          (run) => search(run, "found") !== undefined || search(run, "possible") !== undefined,
        );
      }),
  };
}

/**
 * The patterns whose first operand could be among the command's words; the empty key holds patterns without operands.
 */
function candidates(program: string, patterns: ReadonlyMap<string, Sought[]>, { args }: Reading): Sought[][] {
  // Gradle accepts tasks shortened to a few letters.
  if (program === "gradle") return [...patterns.values()];
  const words = new Set([""]);
  for (const { value } of args) {
    for (const one of [value, ...(valuesIn(value) ?? [])]) {
      words.add(one);
      for (const name of namesIn(program, one)) words.add(name);
    }
  }
  return [...words].flatMap((word) => {
    const same = patterns.get(word);
    return same ? [same] : [];
  });
}
