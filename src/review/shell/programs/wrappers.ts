import { isNamed, readArguments, type Valued } from "../syntax/options.ts";
import type { SimpleCommand, Word } from "../syntax/parsed-command.ts";
import { type ProgramCall, withWords } from "./programs.ts";

/** A program that runs the program in its arguments, which comes after its own `operands`. */
type Wrapper = Valued & { operands?: number; isAfterDashes?: boolean };

const RUN_IN_PROJECT: Valued = { short: "p", long: ["directory", "project", "with", "python", "extra", "group"] };
const EXEC_IN_CONTAINER: Wrapper = { short: "uew", long: ["user", "env-file", "workdir"], operands: 1 };

const ARCHITECTURES =
  "linux32 linux64 uname26 i386 i486 i586 i686 x86_64 ppc ppc32 ppc64 ppc64le s390 s390x arm armv7l armv8l aarch64 mips mips64 sparc sparc64 riscv64".split(
    " ",
  );

/** Keyed by the program, or by the program and its first words. */
const WRAPPERS: Record<string, Wrapper> = {
  builtin: {},
  busybox: {},
  toybox: {},
  command: {},
  exec: { short: "a" },
  env: { short: "uCS", long: ["unset", "chdir", "split-string"] },
  nice: { short: "n", long: ["adjustment"] },
  nohup: {},
  setsid: {},
  stdbuf: { short: "ioe", long: ["input", "output", "error"] },
  time: { short: "fo", long: ["format", "output"] },
  gtime: { short: "fo", long: ["format", "output"] },
  timeout: { short: "ks", long: ["kill-after", "signal"], operands: 1 },
  gtimeout: { short: "ks", long: ["kill-after", "signal"], operands: 1 },
  ionice: { short: "cn", long: ["classdata"] },
  chrt: { operands: 1 },
  taskset: { operands: 1 },
  prlimit: { short: "po", long: ["pid", "output"] },
  choom: { short: "np", long: ["adjust", "pid"] },
  // The architecture, which may come first, is itself the name of a wrapper below.
  setarch: {},
  ...Object.fromEntries(ARCHITECTURES.map((name) => [name, {}])),
  "ld.so": { long: ["library-path", "preload", "audit", "inhibit-rpath", "argv0"] },
  "dbus-run-session": { long: ["config-file", "dbus-daemon"] },
  "dbus-launch": { long: ["config-file"] },
  sudo: {
    short: "ugUhpCDRTrta",
    long: ["user", "group", "other-user", "host", "prompt", "chdir", "chroot", "command-timeout", "role", "type"],
  },
  doas: { short: "uCa" },
  gosu: { operands: 1 },
  "su-exec": { operands: 1 },
  setpriv: { long: ["reuid", "regid", "groups"] },
  chroot: { long: ["userspec", "groups"], operands: 1 },
  unshare: { short: "RSGw", long: ["root", "wd", "setuid", "setgid"] },
  nsenter: { short: "tSGW", long: ["target", "setuid", "setgid", "wdns"] },
  flock: { short: "wE", long: ["timeout", "conflict-exit-code"], operands: 1 },
  strace: { short: "oepEsuPaIbSXU" },
  ltrace: { short: "oepsunaAlx" },
  fakeroot: { short: "lsib" },
  caffeinate: { short: "tw" },
  unbuffer: {},
  rlwrap: { short: "fHsDbC" },
  "xvfb-run": { short: "nefpsw" },
  "ssh-agent": { short: "aEt" },
  "systemd-run": { short: "pMHuE", long: ["unit", "property", "description", "slice", "uid", "gid", "setenv"] },
  entr: {},
  watchexec: { short: "wefiscd", long: ["exts", "watch", "ignore", "filter"] },
  npx: { short: "pc", long: ["package", "call"] },
  bunx: {},
  "cross-env": {},
  "npm exec": { short: "c", long: ["package", "call"] },
  "npm x": { short: "c", long: ["package", "call"] },
  "pnpm exec": {},
  "pnpm dlx": { long: ["package"] },
  "yarn exec": {},
  "yarn dlx": { short: "p", long: ["package"] },
  "bun x": {},
  "bundle exec": {},
  "poetry run": RUN_IN_PROJECT,
  "uv run": RUN_IN_PROJECT,
  "pipenv run": {},
  "conda run": { short: "np", long: ["name", "prefix", "cwd"] },
  "pdm run": {},
  "hatch run": {},
  "pixi run": {},
  "pipx run": { long: ["spec", "python"] },
  uvx: { short: "p", long: ["from", "with", "python"] },
  "mise exec": { isAfterDashes: true },
  "mise x": { isAfterDashes: true },
  "asdf exec": {},
  "direnv exec": { operands: 1 },
  "docker exec": EXEC_IN_CONTAINER,
  "podman exec": EXEC_IN_CONTAINER,
  "docker compose exec": EXEC_IN_CONTAINER,
  "ip netns exec": { operands: 1 },
  "cmake -e": {},
};

/** Their options may stand before the verb. */
const VERBS_BEHIND_OPTIONS = new Set(["npm", "pnpm", "yarn", "uv", "poetry", "docker", "podman"]);
const HAS_VALUE = /^(?:-F|--filter|-w|--workspace|--loglevel|-C|--dir|--prefix|--cwd|--directory|-H|--host|--context)$/;

const XARGS: Valued = {
  short: "InPLdEsa",
  long: ["replace", "max-args", "max-procs", "max-lines", "delimiter", "eof", "max-chars", "arg-file"],
};
const EXECUTES = new Set(["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"]);

/** Stands for what another command finds or prints, which is not known. */
const FOUND: Word = { text: "{}", value: "{}", isDynamic: true, pos: 0, end: 0 };

/** The commands that a command starts because of its arguments. */
export function startedBy(command: ProgramCall): SimpleCommand[] {
  const { program, args } = command;
  if (program === "find" || program === "fd" || program === "fdfind") return executedByFind(command);
  if (program === "xargs") {
    const { operands } = readArguments(args, XARGS, true);
    return operands.length === 0 ? [] : [withWords(command, [...operands.map(placeholder), FOUND])];
  }
  // `command -v` only prints where a program is.
  if (program === "command" && /^-[vV]/.test(args[0]?.value ?? "")) return [];
  // `scriptsOf` reads the text of `env -S` as a whole, with what follows it.
  if (
    program === "env" &&
    readArguments(args, WRAPPERS["env"], true).options.some((one) => isNamed(one, "-S", "--split-string"))
  )
    return [];
  const found = wrapperOf(command);
  if (!found) return [];
  const given = args.slice(found.words - 1);
  const dashes = found.wrapper.isAfterDashes ? given.findIndex(({ value }) => value === "--") : -1;
  const { operands } = readArguments(given.slice(Math.max(0, dashes)), found.wrapper, true);
  const rest = withoutAssignments(operands).slice(found.wrapper.operands ?? 0);
  return rest.length === 0 ? [] : [withWords(command, startingAt(rest))];
}

function wrapperOf({ program, args }: ProgramCall): { wrapper: Wrapper; words: number } | undefined {
  let name = program;
  for (let words = 1; words <= 3; words++) {
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
    if (wrapper) return { wrapper, words };
    name += ` ${args[words - 1]?.value.toLowerCase() ?? ""}`;
  }
  return behindOptions(program, args);
}

/** Such as `pnpm --filter web exec`: options, each with one word that could be its value, and a workspace of yarn. */
function behindOptions(program: string, args: Word[]): { wrapper: Wrapper; words: number } | undefined {
  if (!VERBS_BEHIND_OPTIONS.has(program)) return undefined;
  for (const [at, { value }] of args.entries()) {
    if (value.startsWith("-")) continue;
    const before = args[at - 1]?.value ?? "";
    const key = `${program} ${value.toLowerCase()}`;
    if (!HAS_VALUE.test(before) && Object.hasOwn(WRAPPERS, key)) return { wrapper: WRAPPERS[key] ?? {}, words: at + 2 };
    const isWorkspace = program === "yarn" && (value === "workspace" || before === "workspace");
    if (!before.startsWith("-") && !isWorkspace) return undefined;
  }
  return undefined;
}

function withoutAssignments(words: Word[]): Word[] {
  const first = words.findIndex(({ value }) => !/^\w+\+?=/.test(value));
  return first < 0 ? [] : words.slice(first);
}

/** A `--` may follow an operand such as the `10` of `timeout`. */
function startingAt(words: Word[]): Word[] {
  return words[0]?.value === "--" ? words.slice(1) : words;
}

function executedByFind(command: ProgramCall): SimpleCommand[] {
  const { args } = command;
  const started: SimpleCommand[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!EXECUTES.has(args[at]?.value ?? "")) continue;
    const from = at + 1;
    while (at < args.length && ![";", "+"].includes(args[at]?.value ?? "")) at++;
    const words = args.slice(from, at).map(placeholder);
    // `fd -x` adds what it finds at the end.
    if (words.length > 0) started.push(withWords(command, command.program === "find" ? words : [...words, FOUND]));
  }
  return started;
}

function placeholder(word: Word): Word {
  return word.value.includes("{}") ? { ...word, isDynamic: true } : word;
}
