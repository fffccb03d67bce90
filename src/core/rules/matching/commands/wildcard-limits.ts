import { ANY_OPTIONS } from "./options/program-options.ts";

/** What a wildcard after the name of a program does not cover. */
type Limits = {
  /** The only verbs that it covers; any other must be in the pattern. */
  verbs?: ReadonlySet<string>;
  /** Verbs, or other first words, that it never covers, whatever the pattern says. */
  never?: RegExp;
  /** Options by their long names, which may be abbreviated or extended, and by letters in a cluster. */
  long?: readonly string[];
  short?: string;
  /** Any other words. */
  words?: RegExp;
};

/** Programs that run what their arguments, input or files say: their name does not tell what will run. */
const RUNNERS = setOf(
  "sh bash zsh dash ksh mksh ash fish csh tcsh busybox toybox pwsh powershell eval source . exec command builtin noglob nocorrect trap " +
    "env xargs sudo doas su pkexec runuser timeout nohup nice ionice chrt taskset setsid stdbuf unbuffer time watch flock " +
    "chroot unshare nsenter parallel strace ltrace gdb lldb valgrind script expect entr ssh scp rsync osascript at batch " +
    "systemd-run npx bunx pnpx uvx pipx nix-shell docker podman kubectl crontab find fd fdfind " +
    "prlimit choom run-parts setarch linux32 linux64 dbus-run-session uv poetry bundle mise pipenv conda direnv ip " +
    "cmake gcc g++ cc c++ clang clang++ dotnet docker-compose busctl ldd man less more 7z 7za 7zr pax " +
    "rbash lksh yash nu elvish xonsh osh systemd-cat capsh perf prove chronic tini bwrap rustup hyperfine emacsclient " +
    "ipython pdb view rview rvim original-awk gfortran corepack yarnpkg pyenv rbenv nodenv fnm nvm volta nix ghc rake mix " +
    "jrunscript zargs sched coverage rustc m4 ccache c8 nyc concurrently nodemon env-cmd vite-node babel-node jiti zx dart swift " +
    "guile racket ocaml raku qjs proot firejail numactl chpst envdir logsave cpulimit gdbserver run0 systemd-nspawn",
);
const INTERPRETERS =
  /^(?:python|pypy|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|irb|php|lua|luajit|tclsh|wish|awk|gawk|mawk|nawk|sed|ed|ex|vi|vim|nvim|emacs|Rscript|R|julia|java|jshell|scala|groovy|ghci|runghc|elixir|erl|sqlite3|psql|mysql)[\d.]*(?:[-.][a-z0-9]+)*$/i;
const LOADERS = /^ld(?:-linux.*|-musl.*|\.so.*)$/;

const PACKAGES: Limits = {
  verbs: setOf(
    "test t run run-script start stop restart install i ci add uninstall remove rm update up dedupe prune " +
      "ls list outdated view info audit explain why fund help root bin",
  ),
  never: /^(?:exec|x|dlx|explore|edit|config|c|set|publish|create|init|node|npm)$/,
  long: [
    ..."script-shell shell prefix dir cwd node-options userconfig globalconfig use-yarnrc".split(" "),
    ..."editor viewer git local-prefix init-module onload-script python nodedir registry".split(" "),
  ],
  short: "C",
  words: /^--config\./,
};
const GIT: Limits = {
  verbs: setOf(
    "add blame branch cat-file checkout cherry-pick commit count-objects describe diff fetch for-each-ref grep log " +
      "ls-files ls-tree merge merge-base mv name-rev pull push range-diff reflog remote reset restore rev-list rev-parse " +
      "revert rm shortlog show show-ref stash status switch tag",
  ),
  never: /^(?:-.*|config|submodule|bisect|filter-branch|rebase|difftool|mergetool)$/,
  long: [
    ..."exec-path config-env git-dir work-tree upload-pack receive-pack ext-diff textconv exec output".split(" "),
    "open-files-in-pager",
  ],
  short: "O",
};
const TAR: Limits = {
  never: /^[A-Za-z]*[IFhLTP][A-Za-z]*$/,
  long: [
    ..."to-command checkpoint-action use-compress-program rsh-command info-script new-volume-script".split(" "),
    ..."add-file absolute-names".split(" "),
  ],
  short: "IFhLTP",
  // An archive on another host is read through a remote shell.
  words: /^(?:-\w*|--file=)?[^/=]*:/,
};
/** Verbs that run the words after them, wherever they stand. */
const RUN: Limits = { words: /^run$/ };
const EXEC: Limits = { words: /^exec$/ };
/** Options of any program that run another one, follow links or read paths from a file. */
const LONG = ["pager", "dereference", "files-from", "files0-from"];
const GREP: Limits = { short: "R" };
const LISTING: Limits = { short: "L" };

/** Words that make an ordinary program run another one, or follow the links that it finds. */
const LIMITS: Readonly<Record<string, Limits>> = {
  npm: PACKAGES,
  // The name of a script may be a regular expression.
  pnpm: { ...PACKAGES, words: /^--config\.|^\/.*\/\w*$/ },
  yarn: PACKAGES,
  git: GIT,
  make: { words: /^(?:.*=.*|-[A-Za-z0-9.]*[fCIE].*|--(?:e|f|m|d|i).*)$/ },
  cargo: { long: ["config", "manifest-path"], short: "ZCo", words: /^\+|^(?:rustc|rustdoc)$/ },
  tar: TAR,
  gtar: TAR,
  bsdtar: TAR,
  sort: { long: ["compress-program", "output"], short: "oT" },
  rg: { long: ["pre", "hostname-bin", "follow"], short: "L" },
  ag: { long: ["follow"], short: "f" },
  go: {
    never: /^(?:run|generate|tool)$/,
    long: ["exec", "toolexec", "overlay", "vettool", "modfile"],
    words: /^--?C(?:=|$)/,
  },
  zip: { long: ["unzip-command", "recurse-paths", "recurse-patterns"], short: "TrR" },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  cp: LISTING,
  ls: LISTING,
  du: LISTING,
  chmod: LISTING,
  chown: LISTING,
  chgrp: LISTING,
  cpio: LISTING,
  tree: { short: "lo" },
  // It decodes and expands such addresses itself.
  curl: { words: /file:|[[\]{}]/i },
  jq: { words: /(?<![.$\w])(?:import|include|modulemeta)\b/ },
  diff: { long: ["recursive", "paginate"], short: "rl" },
  gh: { never: /^(?:alias|extension|extensions|ext|config|auth|api|codespace|cs|secret|variable|ssh-key|gpg-key)$/ },
  ctags: { long: ["recurse", "options"], short: "RL" },
  just: { long: ["justfile", "working-directory", "shell", "command", "edit"], short: "fdc", words: /^\w[\w-]*=|\// },
  gradle: { long: ["init-script", "build-file", "project-dir", "settings-file", "include-build"], words: /^-[Ibpc]/ },
  mvn: { long: ["file", "settings", "global-settings", "toolchains"], words: /^-[fstg]|exec:|exec-maven/ },
  doppler: RUN,
  op: RUN,
  dotenvx: RUN,
  "aws-vault": EXEC,
  nx: EXEC,
  lerna: EXEC,
  composer: EXEC,
  lxc: EXEC,
  stack: { words: /^(?:exec|eval|runghc|runhaskell|script)$/ },
  cabal: { words: /^(?:exec|run)$/ },
  rails: { words: /^(?:runner|r)$/ },
  zig: { words: /^(?:run|cc|c\+\+)$/ },
};

/** Programs for which `@name` is not a file with more arguments, but a package, a commit or a person. */
const NO_ARGUMENT_FILES = setOf("npm pnpm yarn git gh rg ag ack turbo nx lerna pip");
/** Verbs of programs that install packages, and words that are a package in a file, a directory or a repository. */
const INSTALLERS = setOf("npm pnpm yarn pip pip3");
const INSTALLS = setOf("install i add update up download wheel");
const PACKAGE_PLACE = /^\.|^[^@-].*\/|^@[^/]*\/.*\/|:|\.(?:tgz|tar|tar\.\w+|zip|whl)$/;
/** Options of package managers before the verb whose value is the next word. */
const VALUED = setOf("-F --filter --filter-prod -w --workspace --loglevel -C --dir --prefix --cwd");

/** Whether a wildcard may cover the words after the pattern's own, judged by the program and its options. */
export function wildcardMayCover(given: readonly string[], patternLength: number): boolean {
  const { name, verb } = programAndVerb(given);
  if (isRunner(name)) return false;
  const { verbs, never, long = [], short, words } = (Object.hasOwn(LIMITS, name) && LIMITS[name]) || {};
  if (never?.test(verb)) return false;
  if (verbs && !verbs.has(verb) && !(verb !== "" && given.indexOf(verb, 1) < patternLength)) return false;
  if (INSTALLERS.has(name) && namesPackagePlace(given)) return false;
  if (never && INSTALLERS.has(name)) {
    const { meant, possible } = packageVerbs(given);
    if (possible.some((at) => never.test(given[at] ?? ""))) return false;
    if (meant >= patternLength && !verbs?.has(given[meant] ?? "")) return false;
  }
  const takesFiles = !NO_ARGUMENT_FILES.has(name) && !ANY_OPTIONS.has(name);
  if (takesFiles && given.slice(patternLength).some((word) => /^@./.test(word))) return false;
  const cluster = short === undefined ? undefined : new RegExp(`^-[A-Za-z0-9]*[${short}]`);
  return !given
    .slice(1)
    .some((word) => words?.test(word) || cluster?.test(word) || [...LONG, ...long].some((one) => isOption(word, one)));
}

/** Whether a package to install is named by its place, whose code would run. */
function namesPackagePlace(given: readonly string[]): boolean {
  const verb = given.findIndex((word) => INSTALLS.has(word));
  const isScript = given.slice(1, verb).some((word) => /^(?:run|run-script|test|t|start)$/.test(word));
  return verb > 0 && !isScript && given.slice(verb + 1).some((word) => PACKAGE_PLACE.test(word));
}

/** Where the verb of a package manager is, behind options and the name of a workspace, and where else it could be. */
function packageVerbs(given: readonly string[]): { meant: number; possible: number[] } {
  const possible: number[] = [];
  let meant = -1;
  for (let at = 1; at < given.length; at++) {
    const [before = "", word = ""] = [given[at - 1], given[at]];
    if (word.startsWith("-")) continue;
    possible.push(at);
    if (/^workspaces?$|^foreach$/.test(word) || before === "workspace" || VALUED.has(before)) continue;
    if (meant < 0) meant = at;
    // An option that is not known may have a value too.
    if (!before.startsWith("-")) break;
  }
  return { meant, possible };
}

/** Whether a wildcard after these words may cover any command at all. */
export function wildcardMayCoverAny(words: readonly string[]): boolean {
  const { name, verb } = programAndVerb(words);
  // The verb may be among the words that the wildcard stands for; further words only ever take something away.
  return verb === "" ? !isRunner(name) : wildcardMayCover(words, words.length);
}

/** Whether a program runs what its arguments, input or files say. */
export function isRunner(name: string): boolean {
  // GNU's own are called `genv` and the like where another one has the name, and each verb of git has a program.
  const low = name.toLowerCase();
  const names = [name, low, low.replace(/^g(?=env$|xargs$|sed$|awk$|find$|timeout$|nice$|nohup$|stdbuf$)/, "")];
  const plain = names.flatMap((one) => [one, one.replace(/(?:-static|\.exe|-?\d[\d.]*)+$/, "")]);
  return low.startsWith("git-") || plain.some((one) => RUNNERS.has(one) || INTERPRETERS.test(one) || LOADERS.test(one));
}

/** The program's name and the first word after it; `--no-pager`, which does not change what runs, is skipped. */
export function programAndVerb([program = "", ...rest]: readonly string[]): { name: string; verb: string } {
  // Some file systems treat `GIT` and `git` as one.
  return {
    name: (program.split("/").at(-1) ?? "").toLowerCase(),
    verb: rest.find((word) => word !== "--no-pager") ?? "",
  };
}

/** Whether it is this long option: abbreviated, extended, or with one dash, as some programs accept it. */
function isOption(word: string, long: string): boolean {
  const [, dashes, name = ""] = /^(--?)([^=]+)/.exec(word.replaceAll("_", "-")) ?? [];
  if (dashes === undefined || (dashes === "-" && name.length < 3)) return false;
  return long.startsWith(name) || name.startsWith(long);
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
