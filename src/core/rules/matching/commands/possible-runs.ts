import { indirect } from "../../../../review/shell/dangers/code/indirect.ts";
import { inlineCode } from "../../../../review/shell/dangers/code/inline-code.ts";
import { startIn } from "../../../../review/shell/index.ts";
import { type ProgramCall, programCall, withWords } from "../../../../review/shell/programs/programs.ts";
import { unwrapped } from "../../../../review/shell/programs/unwrapped.ts";
import { parseCommand, type Word } from "../../../../review/shell/syntax/parsed-command.ts";
import { READING_PROGRAMS } from "../../builtin/programs.ts";
import { SPECIAL_PROGRAMS } from "../../builtin/special-programs.ts";
import { valuesIn } from "./found-command.ts";
import { familyOf } from "./same-commands.ts";

/** Programs that pass the words after `--`, or after a script's name, to a script or program of the project. */
const PASS_ON = setOf("npm pnpm yarn bun cargo go gradle mvn turbo nx lerna");
const RUN_SCRIPTS = setOf("npm pnpm yarn bun");
/** The verbs that run a script; the word after `run` is its name. */
const SCRIPT_VERBS = setOf("run run-script test t start");
/** Programs that, after some verbs, run another program in a container. */
const CONTAINERS = setOf("docker podman nerdctl docker-compose podman-compose kubectl oc");
const CONTAINER_VERBS = setOf("exec run create debug rsh attach");
/** Programs that are known not to run a program named by their words. */
const RUN_NO_WORDS = new Set([
  ...READING_PROGRAMS,
  ...SPECIAL_PROGRAMS.filter((name) => name !== "find" && name !== "command"),
  ...PASS_ON,
  ...setOf("git gh rg ag ack jq yq cp mv ln rm rmdir mkdir touch truncate tee chmod chown chgrp tar zip unzip gzip dd"),
  ...setOf("make just ninja pip apt brew pytest jest vitest mocha tsc eslint prettier ruff mypy black patch gunzip"),
  ...setOf("curl wget kill pkill killall man cd export alias set unset systemctl terraform"),
  ...CONTAINERS,
]);
/** Programs among them that execute code from their input. */
const READS_CODE = setOf("make just ninja");
/** No one writes more words than these by hand, so the rest is not examined. */
const MAX_WORDS = 500;
const MAX_INNER = 100;
/** The checks for code ignore paths, so they get no context. */
const NO_CONTEXT = { directory: startIn(null), changed: [], real: [] };

/** The commands that an unknown program would run if it ran its words, or the text in one of them. */
export function possibleRuns(command: ProgramCall, isSought: (program: string) => boolean): ProgramCall[] {
  const found: ProgramCall[] = [];
  const args = runWords(command);
  for (const [at, word] of args.slice(0, MAX_WORDS).entries()) {
    for (const text of valuesIn(word.value) ?? [word.value]) {
      if (/\s/.test(text)) {
        // Some texts begin with a sign that a shell does not read.
        if (isAnySought(text, isSought)) found.push(...[text, text.replace(/^[\s!:]+/, "")].flatMap(commandsIn));
        continue;
      }
      const run = programCall(withWords(command, [{ ...word, value: text }, ...args.slice(at + 1)]));
      if (isSought(run.program)) found.push(run);
    }
  }
  return found;
}

/**
 * Whether code inside a command names a sought program: the code of `python3 -c`, `tar --to-command` or `alias`, and
 * here-documents for a program that may execute them.
 */
export function mentionsInCode(command: ProgramCall, isSought: (program: string) => boolean): boolean {
  const isCode =
    command.program === "alias" || [indirect, inlineCode].some(({ test }) => test?.(command, NO_CONTEXT) !== undefined);
  const readsNoCode = RUN_NO_WORDS.has(command.program) && !READS_CODE.has(command.program);
  const bodies = readsNoCode ? [] : command.redirects.flatMap(({ body }) => body ?? []);
  return [...(isCode ? command.args : []), ...bodies].some(({ value }) => isAnySought(value, isSought));
}

/** Whether a command has too many words to examine each as a command of its own. */
export function hasTooManyWords(command: ProgramCall): boolean {
  return runWords(command).length > MAX_WORDS;
}

/** The words that a program could run, as far as is known. */
function runWords({ program, args }: ProgramCall): Word[] {
  const name = familyOf(program);
  if (!RUN_NO_WORDS.has(name)) return args;
  if (CONTAINERS.has(name)) {
    const verb = args.findIndex(({ value }) => CONTAINER_VERBS.has(value));
    return verb < 0 ? [] : args.slice(verb + 1);
  }
  if (!PASS_ON.has(name)) return [];
  const script = RUN_SCRIPTS.has(name) ? args.findIndex(({ value }) => SCRIPT_VERBS.has(value)) : -1;
  const named = script < 0 ? -1 : script + (/^r/.test(args[script]?.value ?? "") ? 1 : 0);
  const places = [args.findIndex(({ value }) => value === "--"), named].filter((at) => at >= 0);
  return places.length === 0 ? [] : args.slice(Math.min(...places) + 1);
}

function isAnySought(text: string, isSought: (program: string) => boolean): boolean {
  return text.split(/[^\w.+-]+/).some((name) => isSought(name.toLowerCase()));
}

function commandsIn(text: string): ProgramCall[] {
  return parseCommand(text).commands.flatMap((command) => unwrapped(command, MAX_INNER).commands);
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
