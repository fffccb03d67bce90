import { isInterpreter, type ProgramCall } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

const PYTHON = /^-[bBdEhiIOqsSuvx]*c/;
const NODE = /^(-[ip]*[ep]|--eval|--print|--import=data:)/;
const EVAL = /^(-[eE]|--eval)/;
const POWERSHELL = /^-(c|e)/i;
/** The options that give an interpreter code, by its name without a version. */
const CODE: Record<string, RegExp> = {
  python: PYTHON,
  pypy: PYTHON,
  node: NODE,
  nodejs: NODE,
  bun: NODE,
  tsx: EVAL,
  deno: /^eval$/,
  perl: /^-[aclnpstuwTW0-9i]*[eE]/,
  ruby: /^-[aclnpsw0-9i]*e/,
  php: /^(-[rBRE]|--run)/,
  lua: EVAL,
  rscript: EVAL,
  osascript: EVAL,
  pwsh: POWERSHELL,
  powershell: POWERSHELL,
  expect: /^-c/,
  elixir: EVAL,
  julia: EVAL,
  groovy: EVAL,
};

/** Runs code of another language that is part of the command and is not parsed. */
export const inlineCode: Rule = { rule: "inline-code", test: findCode };

function findCode({ program, args, redirects }: ProgramCall): Finding {
  if (!isInterpreter(program)) return undefined;
  const pattern = CODE[program.replace(/[\d.]+$/, "")];
  const option = pattern && optionsOf(args).find((value) => pattern.test(value));
  if (option !== undefined) return `runs code written in the command (${program} ${nameOf(option)})`;
  const isGiven = redirects.some(({ body }) => body !== undefined) && args.every(({ value }) => value.startsWith("-"));
  return isGiven ? `runs code written in the command (${program})` : undefined;
}

/** The options before the script that an interpreter runs, or before a module's arguments. */
function optionsOf(args: ProgramCall["args"]): string[] {
  const values = args.map(({ value }) => value);
  const end = values.findIndex(
    (value, at) => value === "-m" || (!/^(-|eval$)/.test(value) && !/^-[WXIrM]$/.test(values[at - 1] ?? "")),
  );
  return end < 0 ? values : values.slice(0, end);
}

function nameOf(option: string): string {
  return /^--?[a-zA-Z]+|^eval/.exec(option)?.[0] ?? option;
}
