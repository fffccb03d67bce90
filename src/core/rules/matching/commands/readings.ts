import { gitArguments } from "../../../../review/shell/programs/git-arguments.ts";
import { type ProgramCall, programCall, withWords } from "../../../../review/shell/programs/programs.ts";
import { valuesOf } from "../../../../review/shell/syntax/options.ts";
import { parseCommand, type Word } from "../../../../review/shell/syntax/parsed-command.ts";
import { familyOf } from "./same-commands.ts";

/** Git itself gives up when an alias leads to itself. */
const MAX_ALIASES = 5;

/** The command, and what else its words say that it runs: `python -m pip` is `pip`, `git-push` is `git push`. */
export function readingsOf(command: ProgramCall): ProgramCall[] {
  const others = [...moduleOf(command), ...verbOf(command), ...aliasesOf(command, MAX_ALIASES)];
  return others.length === 0 ? [command] : [command, ...others];
}

function moduleOf(command: ProgramCall): ProgramCall[] {
  if (!/^(?:python|pypy)$/.test(familyOf(command.program))) return [];
  const at = command.args.findIndex(({ value }) => /^-[A-Za-z]*m/.test(value));
  const option = command.args[at];
  if (!option) return [];
  const glued = option.value.slice(option.value.indexOf("m") + 1);
  const rest = command.args.slice(at + 1);
  return called(command, glued === "" ? rest : [{ ...option, value: glued }, ...rest]);
}

/** Programs such as git and cargo have one more for each verb. */
function verbOf(command: ProgramCall): ProgramCall[] {
  const [first, ...rest] = command.words;
  const [, program, verb] = /^(\w+)-([\w-]+)$/.exec(command.program) ?? [];
  if (!first || program === undefined || verb === undefined) return [];
  return called(command, [{ ...first, value: program }, { ...first, value: verb }, ...rest]);
}

/** What `git -c alias.x=… x` runs: another verb, or after `!` a text for a shell. */
function aliasesOf(command: ProgramCall, left: number): ProgramCall[] {
  if (command.program !== "git" || left === 0) return [];
  const { before, verb, rest } = gitArguments(command);
  const [git] = command.words;
  if (verb === "" || before.options.length === 0 || !git) return [];
  return valuesOf(before.options, "-c").flatMap(({ value }) => {
    const [, name = "", text = ""] = /^alias\.([^=]+)=\s*(.*)$/is.exec(value) ?? [];
    if (name.toLowerCase() !== verb.toLowerCase()) return [];
    if (text.startsWith("!"))
      return parseCommand(`${text.slice(1)} ${rest.map((word) => word.text).join(" ")}`).commands.map(programCall);
    const options = command.args.slice(0, command.args.length - rest.length - 1);
    const words = text.split(/\s+/).map((word) => ({ ...git, value: word.replaceAll(/['"\\]/g, "") }));
    const [meant] = called(command, [git, ...options, ...words, ...rest]);
    return meant ? [meant, ...aliasesOf(meant, left - 1)] : [];
  });
}

function called(command: ProgramCall, words: Word[]): ProgramCall[] {
  return words.length === 0 ? [] : [programCall(withWords(command, words))];
}
