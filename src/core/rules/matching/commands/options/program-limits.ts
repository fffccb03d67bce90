/** What a wildcard after a program's name does not cover. */
export type Limits = {
  /** The only verbs that the wildcard covers; any other must be in the pattern. */
  verbs?: ReadonlySet<string>;
  /** Verbs, or other first words, that it never covers, even if the pattern names them. */
  never?: RegExp;
  /** Options that it never covers: long names, which may be abbreviated or extended, and letters in a cluster. */
  long?: readonly string[];
  short?: string;
  /** Other words that it never covers. */
  words?: RegExp;
  /** If the first word matches, the program only passes `words` on, and the wildcard covers them. */
  unlessFirst?: RegExp;
  /** Words that only the pattern may contain. The values of the options in `values` are exempt. */
  rest?: RegExp;
  values?: ReadonlySet<string>;
};

/** Programs that execute what their arguments, input or files contain: the name alone does not tell what runs. */
export const RUNNERS = setOf(
  "sh bash zsh dash ksh mksh ash fish csh tcsh busybox toybox pwsh powershell eval source . exec command builtin noglob nocorrect trap " +
    "env xargs sudo sudo-rs sudoedit doas su pkexec runuser timeout nohup nice ionice chrt taskset setsid stdbuf unbuffer time watch flock " +
    "chroot unshare nsenter parallel strace ltrace gdb lldb valgrind script expect entr ssh scp rsync osascript at batch " +
    "systemd-run npx bunx pnpx uvx pipx nix-shell docker podman kubectl crontab find fd fdfind " +
    "prlimit choom run-parts setarch linux32 linux64 dbus-run-session uv poetry bundle mise pipenv conda direnv ip " +
    "cmake gcc g++ cc c++ clang clang++ dotnet docker-compose busctl ldd man less more 7z 7za 7zr pax " +
    "rbash lksh yash nu elvish xonsh osh systemd-cat capsh perf prove chronic tini bwrap rustup hyperfine emacsclient " +
    "ipython pdb view rview rvim original-awk gfortran corepack yarnpkg pyenv rbenv nodenv fnm nvm volta nix ghc rake mix " +
    "jrunscript zargs sched coverage rustc m4 ccache c8 nyc concurrently nodemon env-cmd vite-node babel-node jiti zx dart swift " +
    "guile racket ocaml raku qjs proot firejail numactl chpst envdir logsave cpulimit gdbserver run0 systemd-nspawn " +
    "torsocks torify tsocks proxychains proxychains4 eatmydata catchsegv dumb-init catatonit setuidgid s6-setuidgid softlimit " +
    "fakechroot sem rush pexec xe tsp pee ifne mispipe run-one lckdo coreutils screen tmux dtach abduco zellij watchexec reflex " +
    "fswatch when-changed rerun posh sash scsh oil ysh murex dc gforth clisp ecl sbcl gnuplot octave octave-cli maxima gp sage " +
    "jython micropython hy nim crystal rdmd kotlin kotlinc groovysh jbang mono csharp wine wasmtime wasmer iex escript pythonw py " +
    "ptpython bpython pydoc pydoc3",
);
export const INTERPRETERS =
  /^(?:python|pypy|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|irb|php|lua|luajit|tclsh|wish|awk|gawk|mawk|nawk|sed|ed|ex|vi|vim|nvim|emacs|Rscript|R|julia|java|jshell|scala|groovy|ghci|runghc|elixir|erl|sqlite3|psql|mysql)[\d.]*(?:[-.][a-z0-9]+)*$/i;
export const LOADERS = /^ld(?:-linux.*|-musl.*|\.so.*)$/;

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
  // Git checks signatures with another program, which its settings name.
  words: /^--(?:format|pretty)=.*%(?:[-+ ]?G|\(signature)/,
};
const TAR: Limits = {
  never: /^[A-Za-z]*[IFhLTP][A-Za-z]*$/,
  long: [
    ..."to-command checkpoint-action use-compress-program rsh-command info-script new-volume-script".split(" "),
    ..."add-file absolute-names".split(" "),
  ],
  short: "IFhLTP",
  // tar reads an archive on another host through a remote shell.
  words: /^(?:-\w*|--file=)?[^/=]*:/,
};
const CARGO: Limits = {
  // Any other verb runs a separate program.
  verbs: setOf(
    "add audit b bench build c check clean clippy d deny doc fetch fix fmt generate-lockfile help info init llvm-cov locate-project " +
      "machete metadata miri new nextest outdated package pkgid r read-manifest remove report rm run search t test tree udeps uninstall " +
      "update vendor verify-project version",
  ),
  never: /^(?:exec|generate|make|script|watch|with)$/,
  long: ["config", "manifest-path"],
  // Options of rustc follow `--`, and some need no value; a `.json` file may describe a target.
  words: /^\+|^(?:rustc|rustdoc)$|^-[gOvVhq]*[ZCoL]|\.json$/,
};
/** Verbs that run the words after them, in any position. */
const RUN: Limits = { words: /^run$/ };
const EXEC: Limits = { words: /^exec$/ };
/** Options that make any program run another one, follow links or read paths from a file. */
export const LONG = ["pager", "dereference", "files-from", "files0-from"];
const GREP: Limits = { short: "R" };
/** Filters that load files, or print the environment, which holds keys. */
export const JQ = /(?<![.$\w])(?:import|include|modulemeta)\b|\$\s*ENV\b|(?<![.$\w"'])env\b(?!\s*:)/;
/** Programs that can work on another machine, through a remote shell, or in a container. */
const SYSTEMD: Limits = { long: ["host", "machine"], short: "HM" };
const LISTING: Limits = { short: "L" };

/** For each program, the words that make it run another program, or follow the links that it finds. */
export const LIMITS: Readonly<Record<string, Limits>> = {
  npm: PACKAGES,
  // pnpm accepts a regular expression as the name of a script.
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
    never: /^(?:run|generate|tool|bug|telemetry)$/,
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
  // curl expands brackets in addresses itself. Protocols other than HTTP send data that the address contains.
  curl: { words: /file:|[[\]{}]|^(?!https?:)[a-z][\w+.-]*:\/\//i },
  // wget names the file after the decoded address.
  wget: { words: /^[^?]*%[\da-f]{2}/i },
  jq: { words: JQ },
  yq: { words: new RegExp(`${JQ.source}|(?:env|envsubst|load\\w*|system)\\(|\\benvsubst\\b`) },
  printenv: { never: /^/ },
  // Without a dash, `e` is an option of ps that prints the environment of every process.
  ps: {
    short: "E",
    rest: /^[aAcefghjlLmnNrsStTuUvwxXZ]*e[aAcefghjlLmnNrsStTuUvwxXZ]*$/,
    values: setOf("-o -O -C -u -U -p -t -g -G -eo -ao -axo --format --user --sort"),
  },
  systemctl: SYSTEMD,
  journalctl: SYSTEMD,
  loginctl: SYSTEMD,
  hostnamectl: SYSTEMD,
  timedatectl: SYSTEMD,
  "systemd-analyze": SYSTEMD,
  // A setting of apt may name programs that run before and after.
  apt: { long: ["option", "config-file"], short: "oc" },
  brew: {
    // Any other verb may run a separate program.
    verbs: setOf(
      "ls list info search outdated deps uses desc doctor config leaves cat log home install uninstall remove rm upgrade update up " +
        "cleanup pin unpin services link unlink fetch autoremove reinstall missing tap untap help --version",
    ),
    never: /^(?:sh|irb|ruby|bundle|edit|test|tests|exec|command|create|extract|developer)$/,
  },
  helm: {
    // Any other verb may run a plugin.
    verbs: setOf(
      "completion create dependency dep env get help history install lint list ls package pull push registry repo rollback search " +
        "show status template test uninstall upgrade verify version",
    ),
    never: /^plugin$/,
  },
  diff: { long: ["recursive", "paginate"], short: "rl" },
  gh: {
    // Any other verb may run an extension, or an alias from the settings.
    verbs: setOf(
      "pr issue run repo release workflow gist search status browse label project ruleset cache attestation org version help completion",
    ),
    never: /^(?:alias|extension|extensions|ext|config|auth|api|codespace|cs|secret|variable|ssh-key|gpg-key)$/,
  },
  ctags: { long: ["recurse", "options"], short: "RL" },
  // A word before a recipe's name may set a variable, and a name with a slash runs a recipe of another directory.
  just: {
    long: ["justfile", "working-directory", "shell", "command", "edit"],
    short: "fdc",
    words: /^\w[\w-]*=|\//,
    unlessFirst: /^\w[\w:-]*$/,
  },
  gradle: { long: ["init-script", "build-file", "project-dir", "settings-file", "include-build"], words: /^-[Ibpc]/ },
  // A goal such as `plugin:goal` runs the code of any plugin.
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
  consul: EXEC,
  pandoc: { short: "FL" },
  latexmk: { short: "er" },
  "ssh-keygen": { short: "D" },
  "ssh-add": { short: "s" },
  tshark: { short: "X" },
  "pre-commit": { never: /^try-repo$/ },
  firebase: { words: /:exec$/ },
  railway: RUN,
  rye: RUN,
  nomad: EXEC,
  ctr: EXEC,
  crictl: EXEC,
  gem: EXEC,
  flatpak: RUN,
  snap: RUN,
  vagrant: { words: /^ssh$/ },
  stack: { words: /^(?:exec|eval|runghc|runhaskell|script)$/ },
  cabal: { words: /^(?:exec|run)$/ },
  rails: { words: /^(?:runner|r)$/ },
  zig: { words: /^(?:run|cc|c\+\+)$/ },
};

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
