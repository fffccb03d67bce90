import { dangersIn, type SimpleCommand } from "../shell/index.ts";
import { isHarmless } from "./chain.ts";
import type { Ground } from "./ground.ts";
import { literalCommands } from "./literal-command.ts";

/** Words that a command must be, or with a wildcard begin with. */
type CommandPattern = { words: readonly string[]; isOpen: boolean };

/** Programs that run what their arguments, their input or a file says: naming them says nothing of what will run. */
const RUNNERS = new Set(
  (
    "sh bash zsh dash ksh mksh ash fish csh tcsh busybox toybox pwsh powershell eval source . exec command builtin noglob nocorrect trap " +
    "env xargs sudo doas su pkexec runuser timeout nohup nice ionice chrt taskset setsid stdbuf unbuffer time watch flock " +
    "chroot unshare nsenter parallel strace ltrace gdb lldb valgrind script expect entr ssh scp rsync osascript at batch " +
    "systemd-run npx bunx pnpx uvx pipx nix-shell docker podman kubectl crontab find fd fdfind"
  ).split(" "),
);
const INTERPRETERS =
  /^(?:python|pypy|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|irb|php|lua|luajit|tclsh|wish|awk|gawk|mawk|nawk|sed|ed|ex|vi|vim|nvim|emacs|Rscript|R|julia|java|jshell|scala|groovy|ghci|runghc|elixir|erl|sqlite3|psql|mysql)[\d.]*$/;
/** `npm exec`, `git -c`, `make SHELL=…`: a wildcard would reach them through a program that is no runner itself. */
const RUNNING_WORDS: Readonly<Record<string, RegExp>> = {
  npm: /^(?:exec|x|-C.*|explore|config|set|publish|--(?:script-shell|prefix|node-options|userconfig|globalconfig).*)$/,
  pnpm: /^(?:exec|dlx|config|publish)$/,
  yarn: /^(?:exec|dlx|config|publish|npm)$/,
  git: /^(?:-c.*|-C.*|--exec-path.*|--config-env.*|--git-dir.*|--work-tree.*|config|submodule|bisect|filter-branch|rebase|difftool|mergetool|--upload-pack.*|--receive-pack.*|--ext-diff|--textconv|--exec.*|-x|--output.*|-O.*|--open-files-in-pager.*)$/,
  make: /^(?:.*=.*|-[A-Za-z]*[fCIE].*|--(?:e|f|m|d|i).*)$/,
  cargo: /^(?:--conf.*|-Z.*|-C.*)$/,
  tar: /^(?:--to-command.*|--checkpoint-action.*|--use-compress-program.*|-?[A-Za-z]*[IF].*|--rsh-command.*|--info-script.*|--new-volume-script.*|--(?:to|ch|use|rsh|info|new).*)$/,
  sort: /^(?:--c.*|--o.*|--files0.*|-[A-Za-z]*[oT].*)$/,
  rg: /^(?:--pre.*|--hostname-bin.*)$/,
  go: /^(?:run|generate|tool|--?exec.*|--?toolexec.*|--?overlay.*)$/,
};

/** Whether the patterns, or what is harmless anyway, cover the whole command line. */
export function areCommandsCovered(patterns: readonly string[], source: string, ground: Ground): boolean {
  const known = patterns.flatMap((pattern) => readPattern(pattern) ?? []);
  return isHarmless(
    source,
    ground,
    (command, dir) =>
      !namesPrivate(command, dir, ground) && known.some((pattern) => covers(pattern, command, source, dir)),
  );
}

/** `npm test` is these words; `npm run *` and `npm run:*` are these and any that follow. */
function readPattern(text: string): CommandPattern | undefined {
  const open = /^(.*?)(?: |:)\*$/s.exec(text)?.[1];
  const [command, ...others] = literalCommands(open ?? text) ?? [];
  if (!command || others.length > 0 || command.parsed.redirects.length > 0) return undefined;
  return { words: command.words, isOpen: open !== undefined };
}

function covers({ words, isOpen }: CommandPattern, command: SimpleCommand, source: string, dir: string): boolean {
  const said = command.words.map(({ value }) => value);
  if (!words.every((word, at) => word === said[at])) return false;
  if (said.length === words.length && !isOpen) return true;
  const alone = { source, commands: [command], functions: [], variables: [], evaluations: [], problems: [] };
  return isOpen && !needsExactWords(said) && dangersIn({ ...alone, tree: undefined }, dir).length === 0;
}

/** Whether what it does can't be told from the words that it begins with. */
function needsExactWords([program = "", ...rest]: readonly string[]): boolean {
  const name = program.split("/").at(-1) ?? "";
  if (RUNNERS.has(name) || INTERPRETERS.test(name)) return true;
  const running = Object.hasOwn(RUNNING_WORDS, name) ? RUNNING_WORDS[name] : undefined;
  return running !== undefined && rest.some((word) => running.test(word));
}

/** Whether a word, or what could be a path in it, leads to something private, or to a directory that holds it. */
function namesPrivate({ words }: SimpleCommand, dir: string, ground: Ground): boolean {
  return words.slice(1).some(({ value }) =>
    pathsIn(value).some((path) => {
      const found = ground.look(path, dir);
      return found !== undefined && (ground.isPrivate(found) || ground.holdsPrivate(found));
    }),
  );
}

function pathsIn(word: string): string[] {
  const candidates = [word, ...word.split(/[=:@,]/), ...(/^-\w./.test(word) ? [word.slice(2)] : [])];
  return candidates.filter((path) => path !== "" && !path.startsWith("-"));
}
