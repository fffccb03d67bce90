import type { Argument, Command, Option } from "commander";

/** What a value on the command line can be. */
export type Value =
  | { kind: "choices"; choices: readonly string[] }
  | { kind: "file" }
  | { kind: "directory" }
  | { kind: "free" }
  /** Values that only the running server knows. */
  | { kind: "asked"; of: Candidates };
export const CANDIDATES = ["sessions", "approvals", "tokens", "rules"] as const;
export type Candidates = (typeof CANDIDATES)[number];

export type Flag = { names: string[]; help: string; value: Value | undefined };
/** One command. `at` holds the words that lead to it; it is empty for the program itself. */
export type Grammar = { at: string; commands: { name: string; help: string }[]; flags: Flag[]; args: Value[] };

const HELP: Flag = { names: ["-h", "--help"], help: "show what it does", value: undefined };
const DEFAULT_COMMAND = "serve";
const SESSION: Value = { kind: "asked", of: "sessions" };
const APPROVAL: Value = { kind: "asked", of: "approvals" };
const TOKEN: Value = { kind: "asked", of: "tokens" };
const RULE: Value = { kind: "asked", of: "rules" };
/** The values of arguments, by command and name of the argument. */
const ARGUMENTS: Record<string, Value> = {
  "allow ID": APPROVAL,
  "deny ID": APPROVAL,
  "run NAME": SESSION,
  "logs NAME": SESSION,
  "sessions update NAME": SESSION,
  "token revoke NAME": TOKEN,
  "rules update ID": RULE,
  "rules remove ID": RULE,
};
const FLAGS: Record<string, Value> = {
  "--session": SESSION,
  "--session-id": SESSION,
  "--auth": { kind: "choices", choices: ["token", "none"] },
  "--log-level": { kind: "choices", choices: ["debug", "info", "warn", "error", "silent"] },
};
/** The values of flags, by their placeholder in the help. */
const VALUES: Record<string, Value> = {
  FILE: { kind: "file" },
  PATH: { kind: "file" },
  DIR: { kind: "directory" },
  DIRS: { kind: "directory" },
};

/** The grammar of all commands, the program itself first. */
export function grammarOf(program: Command): Grammar[] {
  const all = below(program, []);
  const [root, ...others] = all;
  const served = others.find(({ at }) => at === DEFAULT_COMMAND);
  // `plexus --port 5000` means `plexus serve --port 5000`.
  return root
    ? [{ ...root, flags: [...root.flags, ...(served?.flags.filter((flag) => flag !== HELP) ?? [])] }, ...others]
    : all;
}

function below(command: Command, words: string[]): Grammar[] {
  const at = words.join(" ");
  const own: Grammar = {
    at,
    commands: command.commands.map((child) => ({ name: child.name(), help: child.description() })),
    flags: [HELP, ...command.options.filter(({ hidden }) => !hidden).map(flagOf)],
    args: command.registeredArguments.map((argument) => argumentValue(at, argument)),
  };
  return [own, ...command.commands.flatMap((child) => below(child, [...words, child.name()]))];
}

function flagOf(option: Option): Flag {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  return {
    names,
    help: option.description,
    value: option.required || option.optional ? optionValue(option) : undefined,
  };
}

function optionValue({ argChoices, long = "", flags }: Option): Value {
  if (argChoices) return { kind: "choices", choices: argChoices };
  const name = /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? "";
  return FLAGS[long] ?? VALUES[name] ?? { kind: "free" };
}

function argumentValue(at: string, argument: Argument): Value {
  if (argument.argChoices) return { kind: "choices", choices: argument.argChoices };
  return ARGUMENTS[`${at} ${argument.name()}`] ?? VALUES[argument.name()] ?? { kind: "free" };
}

/** The names of all flags that take a value from the next word. */
export function valuedFlags(grammars: Grammar[]): string[] {
  const flags = grammars.flatMap((grammar) => grammar.flags).filter(({ value }) => value);
  return [...new Set(flags.flatMap(({ names }) => names))];
}
