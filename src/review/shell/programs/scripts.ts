import { readArguments, valuesOf } from "../syntax/options.ts";
import type { Word } from "../syntax/parsed-command.ts";
import { isShell, type ProgramCall } from "./programs.ts";

type Texts = (command: ProgramCall) => (Word | undefined)[];

/** `-M` has a value only for autossh. */
const SSH_VALUED = "BbcDEeFIiJLlmOoPpQRSWw";

/** For each program, the texts that it passes to a shell. */
const SCRIPTS: Record<string, Texts> = {
  eval: ({ args }) => [joined(args[0]?.value === "--" ? args.slice(1) : args)],
  source: sourced,
  ".": sourced,
  trap: trapped,
  alias: ({ args }) => args.flatMap((word) => (/^[^=-][^=]*=/.test(word.value) ? afterEquals(word) : [])),
  env: splitByEnv,
  su: asAnother,
  runuser: asAnother,
  sg: ({ args }) => [args.find(({ value }, at) => at > 0 && value !== "-c")],
  flock: ({ args }) => valuesOf(readArguments(args, { short: "cwE", long: ["command"] }).options, "-c", "--command"),
  script: typescript,
  watch: ({ args }) => [joined(readArguments(args, { short: "nq", long: ["interval"] }, true).operands)],
  parallel,
  mise: ({ args }) => valuesOf(readArguments(args, { short: "c", long: ["command"] }).options, "-c", "--command"),
  npm: called,
  npx: called,
  "nix-shell": ({ args }) => valuesOf(readArguments(args, { long: ["run", "command"] }).options, "--run", "--command"),
  mapfile: ({ args }) => valuesOf(readArguments(args, { short: "dnOsuCc" }).options, "-C"),
  readarray: ({ args }) => valuesOf(readArguments(args, { short: "dnOsuCc" }).options, "-C"),
  complete: ({ args }) => valuesOf(readArguments(args, { short: "oAGWFCXPS" }).options, "-C"),
  compgen: ({ args }) => valuesOf(readArguments(args, { short: "oAGWFCXPS" }).options, "-C"),
  concurrently: ({ args }) => readArguments(args).operands,
  nodemon: ({ args }) => valuesOf(readArguments(args, { short: "xew", long: ["exec"] }).options, "-x", "--exec"),
  ssh: remote,
  slogin: remote,
  autossh: remote,
  adb: ({ args }) => [joined(args.slice(args.findIndex(({ value }) => value === "shell") + 1 || args.length))],
};
/** The names of a command's standard input. */
export const STANDARD_INPUT = /^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/;
/** The options of `parallel` that take a value. */
export const PARALLEL = { short: "jNnaISdL", long: ["jobs", "arg-file", "colsep", "delimiter", "joblog", "results"] };
const SU = { short: "c", long: ["command", "session-command"] };

/** Returns every text that a command makes a shell run: of `sh -c`, of `eval`, of a here-document for a shell. */
export function scriptsOf(command: ProgramCall): Word[] {
  const texts = isShell(command.program) ? shellScripts(command) : SCRIPTS[own(command.program)]?.(command);
  return (texts ?? []).flatMap((text) => (text && text.value !== "" ? [text] : []));
}

/** Returns the text of `-c`, or else the here-documents that the shell reads. */
function shellScripts({ args, redirects }: ProgramCall): (Word | undefined)[] {
  const { text, isCommand, operand } = shellArguments(args);
  if (isCommand) return [text];
  return operand === undefined || STANDARD_INPUT.test(operand.value) ? redirects.map(({ body }) => body) : [];
}

function sourced({ args, redirects }: ProgramCall): (Word | undefined)[] {
  return STANDARD_INPUT.test(args[0]?.value ?? "") ? redirects.map(({ body }) => body) : [];
}

/** Reads a shell's arguments: the text to run, or the file. */
export function shellArguments(args: Word[]): {
  text: Word | undefined;
  isCommand: boolean;
  operand: Word | undefined;
} {
  const read = readArguments(args.map(plusAsDash), { short: "oO", long: ["rcfile", "init-file"] }, true);
  const isCommand = read.options.some(({ name }) => name === "-c" || name === "--command");
  const operand = read.options.some(({ name }) => name === "-s") ? undefined : read.operands[0];
  return { text: isCommand ? read.operands[0] : undefined, isCommand, operand };
}

function plusAsDash(word: Word): Word {
  return /^\+[a-zA-Z]/.test(word.value) ? { ...word, value: `-${word.value.slice(1)}` } : word;
}

/** The text of `npx -c` or `npm exec -c`. */
function called({ args }: ProgramCall): Word[] {
  const rest = /^(exec|x)$/.test(args[0]?.value ?? "") ? args.slice(1) : args;
  return valuesOf(readArguments(rest, { short: "cp", long: ["call"] }, true).options, "-c", "--call");
}

function asAnother({ args }: ProgramCall): Word[] {
  return valuesOf(readArguments(args, SU).options, "-c", "--command", "--session-command");
}

function trapped({ args }: ProgramCall): Word[] {
  const { operands } = readArguments(args, {}, true);
  const [action] = operands;
  return action && operands.length > 1 ? [action] : [];
}

function splitByEnv({ args }: ProgramCall): (Word | undefined)[] {
  const { options, operands } = readArguments(args, { short: "uCS", long: ["unset", "chdir", "split-string"] }, true);
  const [text] = valuesOf(options, "-S", "--split-string");
  return text ? [joined([{ ...text, value: text.value.replaceAll(/\\[_tnfvr]/g, " ") }, ...operands])] : [];
}

/** `script -c TEXT`, or on the BSDs `script FILE PROGRAM …`. */
function typescript({ args }: ProgramCall): (Word | undefined)[] {
  const valued = { short: "c", long: ["command"] };
  const given = valuesOf(readArguments(args, valued).options, "-c", "--command");
  return given.length > 0 ? given : [joined(readArguments(args, valued, true).operands.slice(1))];
}

/** `parallel TEXT ::: VALUES`; without a text the values are the commands. */
function parallel({ args }: ProgramCall): (Word | undefined)[] {
  const { operands } = readArguments(args, PARALLEL, true);
  const end = operands.findIndex(({ value }) => /^:::/.test(value));
  const text = end < 0 ? operands : operands.slice(0, end);
  return text.length > 0 ? [joined(text)] : operands.slice(end + 1);
}

function joined(words: Word[]): Word | undefined {
  const [first] = words;
  if (!first) return undefined;
  const value = words.map((word) => word.value).join(" ");
  return { ...first, value, isDynamic: words.some((word) => word.isDynamic) };
}

/** After the host's name, further options may follow, and then the text. */
function remote({ program, args }: ProgramCall): (Word | undefined)[] {
  const valued = { short: program === "autossh" ? `${SSH_VALUED}M` : SSH_VALUED };
  const [, ...rest] = readArguments(args, valued, true).operands;
  return [joined(readArguments(rest, valued, true).operands)];
}

function afterEquals(word: Word): Word[] {
  return [{ ...word, value: word.value.slice(word.value.indexOf("=") + 1) }];
}

function own(program: string): string {
  return Object.hasOwn(SCRIPTS, program) ? program : "";
}
