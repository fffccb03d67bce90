import { gitArguments } from "../../../../review/shell/programs/git-arguments.ts";
import { type ProgramCall, programCall, withWords } from "../../../../review/shell/programs/programs.ts";
import { valuesOf } from "../../../../review/shell/syntax/options.ts";
import { parseCommand, type Word } from "../../../../review/shell/syntax/parsed-command.ts";
import { familyOf } from "./same-commands.ts";

/** Programs whose words name scripts. */
const RUN_SCRIPTS = new Set(["npm-run-all", "npm-run-all2", "run-s", "run-p"]);
/** Bounds aliases that refer to aliases; git gives up when one leads back to itself. */
const MAX_ALIASES = 5;

/**
 * Verbs of git and of programs that are often installed beside it. Any other verb may be an alias in git's settings.
 */
const GIT_VERBS = new Set(
  (
    "add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format " +
    "checkout checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree config count-objects credential " +
    "daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool fast-export fast-import fetch fetch-pack " +
    "filter-branch filter-repo flow fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id grep gui hash-object " +
    "help hook imap-send index-pack init init-db instaweb interpret-trailers last-modified lfs log ls-files ls-remote ls-tree mailinfo " +
    "mailsplit maintenance merge merge-base merge-file merge-index merge-one-file merge-tree mergetool mktag mktree multi-pack-index mv " +
    "name-rev notes p4 pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree " +
    "rebase receive-pack reflog refs remote repack replace replay request-pull rerere reset restore rev-list rev-parse revert rm " +
    "send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule " +
    "subtree svn switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive " +
    "upload-pack var verify-commit verify-pack verify-tag version web--browse whatchanged worktree write-tree"
  ).split(" "),
);

/** Whether a git command may use an alias. */
export function mayBeAlias(command: ProgramCall): boolean {
  if (command.program !== "git") return false;
  const { verb } = gitArguments(command);
  return verb !== "" && !GIT_VERBS.has(verb);
}

/**
 * The command itself, and the commands that its words stand for: `python -m pip` runs `pip`, `git-push` runs `git
 * push`.
 */
export function readingsOf(command: ProgramCall): ProgramCall[] {
  const others = [
    ...moduleOf(command),
    ...verbOf(command),
    ...scriptsOf(command),
    ...inAllOf(command),
    ...aliasesOf(command, MAX_ALIASES),
  ];
  return others.length === 0 ? [command] : [command, ...others];
}

function moduleOf(command: ProgramCall): ProgramCall[] {
  if (!/^(?:python|pypy)$/.test(familyOf(command.program))) return [];
  const at = command.args.findIndex(({ value }) => /^-[A-Za-z]*m/.test(value));
  const option = command.args[at];
  if (!option) return [];
  const glued = option.value.slice(option.value.indexOf("m") + 1);
  const rest = command.args.slice(at + 1);
  return called(command, glued === "" ? rest : [{ ...option, value: glued }, ...rest]);
}

/** Programs such as git and cargo install a separate program for each verb. */
function verbOf(command: ProgramCall): ProgramCall[] {
  const [first, ...rest] = command.words;
  const [, program, verb] = /^(\w+)-([\w-]+)$/.exec(command.program) ?? [];
  if (!first || program === undefined || verb === undefined) return [];
  return called(command, [{ ...first, value: program }, { ...first, value: verb }, ...rest]);
}

/** The scripts that `npm-run-all` and its short forms run, each as `npm run` would. */
function scriptsOf(command: ProgramCall): ProgramCall[] {
  const [first] = command.words;
  if (!first || !RUN_SCRIPTS.has(command.program)) return [];
  return command.args.flatMap((word) => {
    const [script = "", ...given] = word.value.trim().split(/\s+/);
    if (script === "" || script.startsWith("-")) return [];
    return called(
      command,
      [first, first, word, ...given.map(() => word)].map((one, at) => ({
        ...one,
        value: ["npm", "run", script, ...given][at] ?? "",
      })),
    );
  });
}

/** `terragrunt run-all apply` is `terragrunt apply` in each directory. */
function inAllOf(command: ProgramCall): ProgramCall[] {
  const [first, run, ...rest] = command.words;
  if (command.program !== "terragrunt" || !first || !/^run(?:-all)?$/.test(run?.value ?? "")) return [];
  return called(command, [first, ...rest]);
}

/** The commands that `git -c alias.x=… x` runs: another verb, or after `!` a shell command. */
function aliasesOf(command: ProgramCall, left: number): ProgramCall[] {
  if (command.program !== "git" || left === 0) return [];
  const { before, verb, rest } = gitArguments(command);
  const [git] = command.words;
  if (verb === "" || before.options.length === 0 || !git) return [];
  return valuesOf(before.options, "-c").flatMap(({ value }) => {
    const [, name = "", text = ""] = /^alias\.([^=]+)=\s*(.*)$/is.exec(value) ?? [];
    if (name.toLowerCase() !== verb.toLowerCase()) return [];
    if (text.startsWith("!"))
      return parseCommand(`${text.slice(1)} ${rest.map((word) => word.text).join(" ")}`).commands.map(programCall);
    const options = command.args.slice(0, command.args.length - rest.length - 1);
    const words = text.split(/\s+/).map((word) => ({ ...git, value: word.replaceAll(/['"\\]/g, "") }));
    const [meant] = called(command, [git, ...options, ...words, ...rest]);
    return meant ? [meant, ...aliasesOf(meant, left - 1)] : [];
  });
}

function called(command: ProgramCall, words: Word[]): ProgramCall[] {
  return words.length === 0 ? [] : [programCall(withWords(command, words))];
}
