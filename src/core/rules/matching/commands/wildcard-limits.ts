import { ANY_OPTIONS } from "./options/program-options.ts";
import {
  binaryIn,
  endsBeforeBinary,
  isPackageManager,
  namesPackagePlace,
  takesArgumentFile,
  verbsIn,
} from "./package-managers.ts";
import { familyOf } from "./same-commands.ts";

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
  /** Once the first word is one of these, such words are only handed on. */
  unlessFirst?: RegExp;
  /** Words that it does not cover, but a pattern may have; unless they are the value of one of these options. */
  rest?: RegExp;
  values?: ReadonlySet<string>;
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
const CARGO: Limits = {
  // Any other verb is a program of its own.
  verbs: setOf(
    "add audit b bench build c check clean clippy d deny doc fetch fix fmt generate-lockfile help info init llvm-cov locate-project " +
      "machete metadata miri new nextest outdated package pkgid r read-manifest remove report rm run search t test tree udeps uninstall " +
      "update vendor verify-project version",
  ),
  never: /^(?:exec|generate|make|script|watch|with)$/,
  long: ["config", "manifest-path"],
  // After `--` come the options of rustc, of which some need no value; a target may be described by a file.
  words: /^\+|^(?:rustc|rustdoc)$|^-[gOvVhq]*[ZCoL]|\.json$/,
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
  cargo: CARGO,
  tar: TAR,
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
  // The environment holds keys.
  jq: { words: /(?<![.$\w])(?:import|include|modulemeta)\b|\$ENV\b|(?<![.$\w"'])env\b(?!\s*:)/ },
  diff: { long: ["recursive", "paginate"], short: "rl" },
  gh: {
    // Any other verb may be an extension, or an alias of the settings.
    verbs: setOf(
      "pr issue run repo release workflow gist search status browse label project ruleset cache attestation org version help completion",
    ),
    never: /^(?:alias|extension|extensions|ext|config|auth|api|codespace|cs|secret|variable|ssh-key|gpg-key)$/,
  },
  ctags: { long: ["recurse", "options"], short: "RL" },
  // Before the name of a recipe a word may set a variable, and the name may be that of another directory's.
  just: {
    long: ["justfile", "working-directory", "shell", "command", "edit"],
    short: "fdc",
    words: /^\w[\w-]*=|\//,
    unlessFirst: /^\w[\w:-]*$/,
  },
  gradle: { long: ["init-script", "build-file", "project-dir", "settings-file", "include-build"], words: /^-[Ibpc]/ },
  // A goal such as `plugin:goal` is the code of any plugin.
  mvn: {
    long: ["file", "settings", "global-settings", "toolchains"],
    words: /^-[fstg]|exec:|exec-maven/,
    rest: /^[^-].*:|^:/,
    values: setOf("-pl --projects"),
  },
  pip: { never: /^config$/ },
  openssl: { never: /^engine$/, words: /^--?(?:out|keyout|writerand|pre|post)$/ },
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
const NO_ARGUMENT_FILES = setOf("git gh rg ag ack pip");
/** The same, but what follows `--` is for another program. */
const HANDING_ON = setOf("turbo nx lerna");

/** Whether a wildcard may cover the words after the pattern's own, judged by the program and its options. */
export function wildcardMayCover(given: readonly string[], patternLength: number): boolean {
  const { name, verb } = programAndVerb(given);
  if (isRunner(name)) return false;
  const family = familyOf(name);
  const limits = limitsOf(family);
  const { verbs, never, long = [], short, words, unlessFirst, rest, values } = limits;
  if (never?.test(verb)) return false;
  if (verbs && !verbs.has(verb) && !(verb !== "" && given.indexOf(verb, 1) < patternLength)) return false;
  if (isPackageManager(family) && !packagesMayCover(family, given, patternLength, limits)) return false;
  if (given.some((word, at) => at >= patternLength && /^@./.test(word) && isArgumentFile(family, given, at)))
    return false;
  if (rest && given.some((word, at) => at >= patternLength && rest.test(word) && !values?.has(given[at - 1] ?? "")))
    return false;
  const anyWord = unlessFirst?.test(given[1] ?? "") ? undefined : words;
  const cluster = short === undefined ? undefined : new RegExp(`^-[A-Za-z0-9]*[${short}]`);
  return !given
    .slice(1)
    .some(
      (word) => anyWord?.test(word) || cluster?.test(word) || [...LONG, ...long].some((one) => isOption(word, one)),
    );
}

function packagesMayCover(
  family: string,
  given: readonly string[],
  patternLength: number,
  { verbs, never }: Limits,
): boolean {
  if (namesPackagePlace(family, given)) return false;
  const { meant, possible } = verbsIn(given);
  if (never && possible.some((at) => never.test(given[at] ?? ""))) return false;
  if (!verbs) return true;
  if (meant >= patternLength && !verbs.has(given[meant] ?? "")) return false;
  const binary = binaryIn(family, given, verbs);
  return binary < 0 || (binary < patternLength && wildcardMayCover(given.slice(binary), patternLength - binary));
}

/** Whether a program, or the script or program to which it hands the word, could read `@name` as a file with arguments. */
function isArgumentFile(family: string, given: readonly string[], at: number): boolean {
  if (NO_ARGUMENT_FILES.has(family) || ANY_OPTIONS.has(family)) return false;
  if (isPackageManager(family)) return takesArgumentFile(family, given, at);
  const dashes = given.indexOf("--");
  return !HANDING_ON.has(family) || (dashes > 0 && dashes < at);
}

/** Where the program of `node_modules/.bin` is that yarn or pnpm would run; -1 where there is none. */
export function binaryAt(given: readonly string[]): number {
  const family = familyOf(programAndVerb(given).name);
  return binaryIn(family, given, limitsOf(family).verbs ?? new Set());
}

function limitsOf(family: string): Limits {
  return (Object.hasOwn(LIMITS, family) && LIMITS[family]) || {};
}

/** Whether a wildcard after these words may cover any command at all. */
export function wildcardMayCoverAny(words: readonly string[]): boolean {
  const { name, verb } = programAndVerb(words);
  // The verb may be among the words that the wildcard stands for; further words only ever take something away.
  if (verb === "") return !isRunner(name);
  return wildcardMayCover(words, words.length) && !endsBeforeBinary(familyOf(name), words);
}

/** Whether a program runs what its arguments, input or files say. */
export function isRunner(name: string): boolean {
  // GNU's own are called `genv` and the like where another one has the name, and each verb of git has a program.
  const low = name.toLowerCase();
  const names = [name, low, low.replace(/^g(?=env$|xargs$|sed$|awk$|find$|timeout$|nice$|nohup$|stdbuf$)/, "")];
  const plain = names.flatMap((one) => [one, one.replace(/(?:-static|\.exe|-?\d[\d.]*)+$/, "")]);
  return low.startsWith("git-") || plain.some((one) => RUNNERS.has(one) || INTERPRETERS.test(one) || LOADERS.test(one));
}

/** Options without a value that may stand before a verb, and do not change what it does. */
const BEFORE_VERB = setOf("--no-pager --silent --quiet --verbose --locked --offline --frozen -q -v -vv");

/** The program's name and its verb: the first word after it, and after such options. */
export function programAndVerb([program = "", ...rest]: readonly string[]): { name: string; verb: string } {
  // Some file systems treat `GIT` and `git` as one.
  return {
    name: (program.split("/").at(-1) ?? "").toLowerCase(),
    verb: rest.find((word) => !BEFORE_VERB.has(word)) ?? "",
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
