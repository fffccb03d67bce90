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
    "cmake gcc g++ cc c++ clang clang++ dotnet docker-compose busctl ldd man less more 7z 7za 7zr pax",
);
const INTERPRETERS =
  /^(?:python|pypy|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|irb|php|lua|luajit|tclsh|wish|awk|gawk|mawk|nawk|sed|ed|ex|vi|vim|nvim|emacs|Rscript|R|julia|java|jshell|scala|groovy|ghci|runghc|elixir|erl|sqlite3|psql|mysql)[\d.]*$/;
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
};
/** Options of any program that run another one, follow links or read paths from a file. */
const LONG = ["pager", "dereference", "files-from", "files0-from"];
const GREP: Limits = { short: "R" };
const LISTING: Limits = { short: "L" };

/** Words that make an ordinary program run another one, or follow the links that it finds. */
const LIMITS: Readonly<Record<string, Limits>> = {
  npm: PACKAGES,
  pnpm: PACKAGES,
  yarn: PACKAGES,
  git: GIT,
  make: { words: /^(?:.*=.*|-[A-Za-z0-9.]*[fCIE].*|--(?:e|f|m|d|i).*)$/ },
  cargo: { long: ["config", "manifest-path"], short: "ZC", words: /^\+/ },
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
  tree: { short: "l" },
  diff: { long: ["recursive"], short: "r" },
  ctags: { long: ["recurse", "options"], short: "RL" },
  just: { long: ["justfile", "working-directory", "shell", "command", "edit"], short: "fdc" },
  gradle: { long: ["init-script", "build-file", "project-dir", "settings-file", "include-build"], words: /^-[Ibpc]/ },
  mvn: { long: ["file", "settings", "global-settings", "toolchains"], words: /^-[fstg]|exec:|exec-maven/ },
};

/** Whether a wildcard may cover the words after the pattern's own, judged by the program and its options. */
export function wildcardMayCover(given: readonly string[], patternLength: number): boolean {
  const { name, verb } = programAndVerb(given);
  if (RUNNERS.has(name) || RUNNERS.has(name.replace(/-?\d[\d.]*$/, ""))) return false;
  if (INTERPRETERS.test(name) || LOADERS.test(name)) return false;
  const { verbs, never, long = [], short, words } = (Object.hasOwn(LIMITS, name) && LIMITS[name]) || {};
  if (never?.test(verb)) return false;
  if (verbs && !verbs.has(verb) && !(verb !== "" && given.indexOf(verb, 1) < patternLength)) return false;
  const cluster = short === undefined ? undefined : new RegExp(`^-[A-Za-z0-9]*[${short}]`);
  return !given
    .slice(1)
    .some((word) => words?.test(word) || cluster?.test(word) || [...LONG, ...long].some((one) => isOption(word, one)));
}

/** The program's name and the first word after it; `--no-pager`, which does not change what runs, is skipped. */
export function programAndVerb([program = "", ...rest]: readonly string[]): { name: string; verb: string } {
  return { name: program.split("/").at(-1) ?? "", verb: rest.find((word) => word !== "--no-pager") ?? "" };
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
