import { isNamed, readArguments, type Valued, valuesOf } from "../syntax/options.ts";
import type { SimpleCommand, Word } from "../syntax/parsed-command.ts";
import { type ProgramCall, withWords } from "./programs.ts";

/** A program that runs another one, named in its arguments after its own `operands`, or after `--`. */
type Wrapper = Valued & {
  operands?: number;
  isAfterDashes?: boolean;
  /** The option that names the program instead. */
  program?: string;
};

const RUN_IN_PROJECT: Valued = { short: "p", long: ["directory", "project", "with", "python", "extra", "group"] };
const EXEC_IN_CONTAINER: Wrapper = {
  short: "uew",
  long: ["user", "env-file", "workdir", "detach-keys", "index", "preserve-fds"],
  operands: 1,
};
const RUN_IN_CONTAINER: Wrapper = {
  short: "acehlmpuvw",
  long: (
    "add-host annotation arch attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile cpu-period cpu-quota cpu-shares cpus " +
    "cpuset-cpus detach-keys device dns dns-option dns-search domainname entrypoint env env-file expose gpus group-add health-cmd hostname " +
    "ip ipc isolation kernel-memory label label-file link log-driver log-opt mac-address memory memory-swap mount name network " +
    "network-alias oom-score-adj os pid pids-limit platform pod publish pull restart runtime security-opt shm-size stop-signal " +
    "stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver volumes-from workdir"
  ).split(" "),
  operands: 1,
  program: "--entrypoint",
};
const IN_CONTAINER: Record<string, Wrapper> = Object.fromEntries([
  ...["docker", "podman", "nerdctl"].flatMap((engine) =>
    [engine, `${engine} container`, `${engine} compose`].flatMap((start) => [
      [`${start} exec`, EXEC_IN_CONTAINER],
      [`${start} run`, RUN_IN_CONTAINER],
      [`${start} create`, RUN_IN_CONTAINER],
    ]),
  ),
  ...["docker-compose", "podman-compose"].flatMap((start) => [
    [`${start} exec`, EXEC_IN_CONTAINER],
    [`${start} run`, RUN_IN_CONTAINER],
  ]),
]);
const IN_POD: Wrapper = {
  short: "cfns",
  long: (
    "as as-group cluster container context custom filename image kubeconfig labels namespace overrides pod-running-timeout profile " +
    "request-timeout restart server target token user"
  ).split(" "),
  operands: 1,
  isAfterDashes: true,
};
const IN_SYSTEM_CONTAINER: Wrapper = {
  short: "n",
  long: ["cwd", "env", "gid", "group", "mode", "name", "project", "uid", "user"],
  operands: 1,
  isAfterDashes: true,
};
const IN_IMAGE: Wrapper = {
  short: "BHWS",
  long: ["app", "bind", "env", "env-file", "home", "overlay", "pwd", "scratch", "workdir"],
  operands: 1,
};

const ARCHITECTURES =
  "linux32 linux64 uname26 i386 i486 i586 i686 x86_64 ppc ppc32 ppc64 ppc64le s390 s390x arm armv7l armv8l aarch64 mips mips64 sparc sparc64 riscv64".split(
    " ",
  );

/** Programs that run the rest of their words, and whose options have no separate value. */
const TRANSPARENT = "chronic coreutils dumb-init eatmydata ifne run-one torify torsocks tsocks valgrind".split(" ");

/** By the program's name, or by its name and first words. */
const WRAPPERS: Record<string, Wrapper> = {
  builtin: {},
  busybox: {},
  toybox: {},
  command: {},
  exec: { short: "a" },
  env: { short: "uCSaP", long: ["unset", "chdir", "split-string", "argv0"] },
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
  // An architecture may come first; its name is a wrapper of its own below.
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
  chroot: { short: "ugG", long: ["userspec", "groups"], operands: 1 },
  unshare: {
    short: "RSGwl",
    long: "boottime load-interp map-group map-groups map-user map-users monotonic propagation root setgid setgroups setuid wd".split(
      " ",
    ),
  },
  nsenter: { short: "tSGWN", long: ["net-socket", "target", "setuid", "setgid", "wdns"] },
  pkexec: { long: ["user"] },
  run0: { short: "uDg", long: "background chdir description group nice property setenv slice unit user".split(" ") },
  sshpass: { short: "pfdP" },
  mosh: {
    short: "p",
    long: ["bind-server", "family", "port", "predict", "server", "ssh"],
    operands: 1,
    isAfterDashes: true,
  },
  wsl: { short: "du", long: ["cd", "distribution", "shell-type", "user"] },
  proot: { short: "bikmpqrw", long: ["bind", "cwd", "kernel-release", "qemu", "rootfs"] },
  firejail: {},
  "systemd-nspawn": {
    short: "DELMSZipu",
    long: ["directory", "image", "machine", "setenv", "user", "bind", "bind-ro"],
  },
  "machinectl shell": { short: "EMH", long: ["setenv", "uid", "host", "machine"], operands: 1 },
  "flatpak-spawn": {
    long: "app-path directory env env-fd forward-fd sandbox-expose sandbox-expose-ro unset-env usr-path".split(" "),
  },
  "flatpak enter": { operands: 1 },
  "toolbox run": { short: "cdr", long: ["container", "distro", "release"] },
  "distrobox enter": IN_SYSTEM_CONTAINER,
  "distrobox-enter": IN_SYSTEM_CONTAINER,
  "lxc exec": IN_SYSTEM_CONTAINER,
  "lxc-attach": IN_SYSTEM_CONTAINER,
  "incus exec": IN_SYSTEM_CONTAINER,
  "singularity exec": IN_IMAGE,
  "apptainer exec": IN_IMAGE,
  "kubectl exec": IN_POD,
  "kubectl run": IN_POD,
  "kubectl debug": IN_POD,
  "oc exec": IN_POD,
  "oc rsh": IN_POD,
  "oc run": IN_POD,
  "oc debug": IN_POD,
  "gh codespace ssh": { short: "cp", long: ["codespace", "profile", "server-port"], isAfterDashes: true },
  "gh cs ssh": { short: "cp", long: ["codespace", "profile", "server-port"], isAfterDashes: true },
  ...IN_CONTAINER,
  flock: { short: "wE", long: ["timeout", "conflict-exit-code"], operands: 1 },
  strace: { short: "oepEsuPaIbSXU" },
  ltrace: { short: "oepsunaAlx" },
  fakeroot: { short: "lsib" },
  ...Object.fromEntries(TRANSPARENT.map((name) => [name, {}])),
  proxychains: { short: "f" },
  proxychains4: { short: "f" },
  runuser: { short: "ugGsw", long: ["user", "group", "supp-group", "shell", "whitelist-environment"] },
  setuidgid: { operands: 1 },
  "s6-setuidgid": { operands: 1 },
  tini: { short: "pe", isAfterDashes: true },
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
  "ip netns exec": { operands: 1 },
  "cmake -e": {},
};

/** Options before the verb that always have a value. */
const HAS_VALUE = /^(?:-F|--filter|-w|--workspace|--loglevel|-C|--dir|--prefix|--cwd|--directory|-H|--host|--context)$/;
/** The names of all wrappers, and the words that they begin with. */
const STARTS = new Set(
  Object.keys(WRAPPERS).flatMap((name) => {
    const words = name.split(" ");
    return words.map((_, at) => words.slice(0, at + 1).join(" "));
  }),
);

const XARGS: Valued = {
  short: "InPLdEsa",
  long: ["replace", "max-args", "max-procs", "max-lines", "delimiter", "eof", "max-chars", "arg-file"],
};
const EXECUTES = new Set(["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"]);

/** Placeholder for the unknown words that another command finds or prints. */
const FOUND: Word = { text: "{}", value: "{}", isDynamic: true, pos: 0, end: 0 };

/** Returns the commands that a command starts because of its arguments. */
export function startedBy(command: ProgramCall): SimpleCommand[] {
  const { program, args } = command;
  if (program === "find" || program === "fd" || program === "fdfind") return executedByFind(command);
  if (program === "xargs") {
    const { operands } = readArguments(args, XARGS, true);
    return operands.length === 0 ? [] : [withWords(command, [...operands.map(placeholder), FOUND])];
  }
  // `command -v` only prints where a program is.
  if (program === "command" && /^-[vV]/.test(args[0]?.value ?? "")) return [];
  // `scriptsOf` reads the text of `env -S`, with the words after it.
  if (
    program === "env" &&
    readArguments(args, WRAPPERS["env"], true).options.some((one) => isNamed(one, "-S", "--split-string"))
  )
    return [];
  const found = wrapperOf(command);
  if (!found) return [];
  const { wrapper, given } = found;
  const dashes = wrapper.isAfterDashes ? given.findIndex(({ value }) => value === "--") : -1;
  const { options, operands } = readArguments(given.slice(Math.max(0, dashes)), wrapper, true);
  const inner = withoutAssignments(operands).slice(dashes < 0 ? (wrapper.operands ?? 0) : 0);
  const named = wrapper.program === undefined ? [] : valuesOf(options, wrapper.program);
  // Some programs accept options after an operand too.
  const isOption = named.length === 0 && /^-./.test(inner[0]?.value ?? "");
  const words = [...named, ...(isOption ? readArguments(inner, wrapper, true).operands : inner)];
  return words.length === 0 ? [] : [withWords(command, words)];
}

/**
 * Returns the wrapper that a command names, and its arguments. Between the words of its name there may be options, each
 * with a word that could be its value, and a workspace of yarn: `pnpm --filter web exec`.
 */
function wrapperOf({ program, args }: ProgramCall): { wrapper: Wrapper; given: Word[] } | undefined {
  let names = STARTS.has(program) ? [program] : [];
  for (let at = 0; names.length > 0; at++) {
    const wrapper = names.flatMap((name) => (Object.hasOwn(WRAPPERS, name) ? (WRAPPERS[name] ?? []) : []))[0];
    if (wrapper) return { wrapper, given: args.slice(at) };
    const [before, word] = [args[at - 1]?.value ?? "", args[at]?.value];
    if (word === undefined) return undefined;
    const longer = names.map((name) => `${name} ${word.toLowerCase()}`).filter((name) => STARTS.has(name));
    const mayBeValue = before.startsWith("-") && !before.includes("=");
    const isSkipped = word.startsWith("-") || mayBeValue || (program === "yarn" && isWorkspace(word, before));
    names = [...(HAS_VALUE.test(before) ? [] : longer), ...(isSkipped ? names : [])];
  }
  return undefined;
}

function isWorkspace(word: string, before: string): boolean {
  return /^workspaces?$|^foreach$/.test(word) || before === "workspace";
}

function withoutAssignments(words: Word[]): Word[] {
  // For `env`, a single dash is an option.
  const first = words.findIndex(({ value }) => value !== "-" && !/^\w+\+?=/.test(value));
  return first < 0 ? [] : words.slice(first);
}

function executedByFind(command: ProgramCall): SimpleCommand[] {
  const { args } = command;
  const started: SimpleCommand[] = [];
  for (let at = 0; at < args.length; at++) {
    if (!EXECUTES.has(args[at]?.value ?? "")) continue;
    const from = at + 1;
    while (at < args.length && ![";", "+"].includes(args[at]?.value ?? "")) at++;
    const words = args.slice(from, at).map(placeholder);
    // `fd -x` appends what it finds.
    if (words.length > 0) started.push(withWords(command, command.program === "find" ? words : [...words, FOUND]));
  }
  return started;
}

function placeholder(word: Word): Word {
  return word.value.includes("{}") ? { ...word, isDynamic: true } : word;
}
