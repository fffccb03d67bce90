import { readCommand, type SimpleCommand, type Word } from "./reading.ts";

/** Programs that run the program that their arguments name, with the options of theirs that take a value. */
const WRAPPERS: Record<string, string[]> = {
  builtin: [],
  busybox: [],
  chroot: [],
  command: [],
  doas: ["-u", "-C"],
  env: ["-u", "-C", "-S", "--unset", "--chdir"],
  exec: ["-a"],
  flock: ["-w", "-E"],
  ionice: ["-c", "-n", "-p"],
  nice: ["-n"],
  nohup: [],
  setsid: [],
  stdbuf: ["-i", "-o", "-e"],
  sudo: ["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t"],
  time: ["-f", "-o"],
  timeout: ["-k", "-s"],
  unshare: [],
  watch: ["-n"],
  xargs: ["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"],
};
/** So many plain arguments stand before the program. */
const ARGUMENTS_BEFORE: Record<string, number> = { timeout: 1, flock: 1, chroot: 1 };

const SHELLS = ["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];
const MAX_DEPTH = 8;

/** The command and every other one that it starts by way of its arguments, with what could not be read of them. */
export function unwrapped(command: SimpleCommand, depth = 0): { commands: SimpleCommand[]; problems: string[] } {
  if (depth > MAX_DEPTH) return { commands: [command], problems: ["commands within commands go too deep"] };
  const found = { commands: [command], problems: [] as string[] };
  for (const inner of innerOf(command)) {
    const { commands, problems } = unwrapped(inner, depth + 1);
    found.commands.push(...commands);
    found.problems.push(...problems);
  }
  const script = scriptOf(command);
  if (script && !script.isDynamic) {
    const reading = readCommand(script.value);
    found.problems.push(...reading.problems);
    for (const inner of reading.commands) {
      const { commands, problems } = unwrapped(inner, depth + 1);
      found.commands.push(...commands);
      found.problems.push(...problems);
    }
  }
  return found;
}

/** The last part of a program's path. */
export function programOf({ words }: Pick<SimpleCommand, "words">): string {
  return words[0]?.value.split("/").at(-1) ?? "";
}

export function isShell(program: string): boolean {
  return SHELLS.includes(program);
}

/** The text that `sh -c` or `eval` runs. */
export function scriptOf(command: SimpleCommand): Word | undefined {
  const program = programOf(command);
  const rest = command.words.slice(1);
  if (program === "eval") {
    const [first, ...others] = rest;
    if (!first) return undefined;
    const value = rest.map((word) => word.value).join(" ");
    return { ...first, value, isDynamic: [first, ...others].some((word) => word.isDynamic) };
  }
  if (!isShell(program)) return undefined;
  const at = rest.findIndex(({ value }) => /^-[a-z]*c$/.test(value));
  return at < 0 ? undefined : rest[at + 1];
}

function innerOf(command: SimpleCommand): SimpleCommand[] {
  const program = programOf(command);
  if (program === "find" || program === "fd") return executedByFind(command);
  const valued = WRAPPERS[program];
  if (!valued) return [];
  const rest = command.words.slice(1);
  let at = 0;
  for (let before = ARGUMENTS_BEFORE[program] ?? 0; at < rest.length; at++) {
    const value = rest[at]?.value ?? "";
    if (value === "--") {
      at++;
      break;
    }
    if (valued.includes(value)) at++;
    else if (value.startsWith("-") || /^\w+=/.test(value)) continue;
    else if (before-- <= 0) break;
  }
  const words = rest.slice(at);
  return words.length === 0 ? [] : [{ ...command, words, assignments: [], redirects: [] }];
}

function executedByFind(command: SimpleCommand): SimpleCommand[] {
  return command.words.flatMap(({ value }, at) => {
    if (!["-exec", "-execdir", "-ok", "-okdir", "-x", "-X"].includes(value)) return [];
    const rest = command.words.slice(at + 1);
    const end = rest.findIndex(({ value: one }) => one === ";" || one === "+");
    const words = end < 0 ? rest : rest.slice(0, end);
    return words.length === 0 ? [] : [{ ...command, words, assignments: [], redirects: [] }];
  });
}
