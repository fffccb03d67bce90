import { gitArguments } from "../../programs/git-arguments.ts";
import type { ProgramCall } from "../../programs/programs.ts";
import { isNamed, type Option, readArguments, type Valued } from "../../syntax/options.ts";
import type { Word } from "../../syntax/parsed-command.ts";
import type { Finding, Rule } from "../rule.ts";

type Rest = { options: Option[]; operands: Word[]; words: string[]; has: (...names: string[]) => boolean };

/** For each verb: whether these arguments discard work or history. */
const LOSSES: Record<string, (rest: Rest) => boolean> = {
  reset: ({ has }) => has("--hard", "--merge", "--keep"),
  clean: ({ has }) => has("-f", "--force"),
  branch: ({ has }) => has("-D", "-M", "-C", "-f", "--force"),
  tag: ({ has }) => has("-d", "--delete", "-f", "--force"),
  checkout: ({ has, words, operands }) =>
    has("-f", "--force", "-B", "--ours", "--theirs") ||
    words.includes("--") ||
    words.some((word) => /^[.:]|[*?[]/.test(word)) ||
    // Operands after a commit are paths.
    (operands.length > 1 && !has("-b", "--orphan", "-t", "--track")),
  switch: ({ has }) => has("-f", "--discard-changes", "-C", "--force-create"),
  restore: ({ has }) => !has("-S", "--staged") || has("-W", "--worktree"),
  rm: ({ has }) => has("-r", "-f", "--force") && !has("--cached"),
  stash: ({ words }) => ["drop", "clear"].includes(words[0] ?? ""),
  worktree: ({ words, has }) => words[0] === "remove" && has("-f", "--force"),
  reflog: ({ words }) => ["expire", "delete"].includes(words[0] ?? ""),
  gc: ({ options }) => options.some(({ name }) => name.startsWith("--prune")),
  prune: () => true,
  "filter-branch": () => true,
  "filter-repo": () => true,
  "update-ref": () => true,
  replace: () => true,
};

/** Options of verbs whose value is the next word. */
const VALUED: Record<string, Valued> = {
  commit: { short: "mFcCt", long: ["message"] },
  checkout: { short: "bB", long: ["orphan", "conflict"] },
};

/** Discards work or history, changes remote branches, or changes the remotes. */
export const git: Rule = { rule: "git", test: findGit };

function findGit(command: ProgramCall): Finding {
  if (command.program !== "git") return undefined;
  const { verb, rest } = gitArguments(command);
  const { options, operands } = readArguments(rest, Object.hasOwn(VALUED, verb) ? VALUED[verb] : {});
  const words = rest.map(({ value }) => value);
  const has = (...names: string[]) => options.some((option) => isNamed(option, ...names));
  if (verb === "push") return pushes(words, has);
  if (["commit", "merge", "rebase", "am"].includes(verb) && has("--no-verify")) return skipsHooks(verb);
  if (verb === "commit" && has("-n")) return skipsHooks(verb);
  if (verb === "remote" && ["add", "set-url", "rename", "remove", "rm", "set-branches"].includes(words[0] ?? "")) {
    return "changes where git fetches from and pushes to (git remote)";
  }
  const isLoss = Object.hasOwn(LOSSES, verb) && LOSSES[verb]?.({ options, operands, words, has });
  return isLoss ? `discards work or history (git ${verb})` : undefined;
}

function pushes(words: string[], has: Rest["has"]): Finding {
  if (
    has("-f", "--force-with-lease", "--mirror", "-d", "--delete", "--prune") ||
    words.some((word) => /^[+:]/.test(word))
  ) {
    return "overwrites or removes a remote branch (git push)";
  }
  if (has("--no-verify")) return skipsHooks("push");
  return words.some((word) => /^([a-z+]+:\/\/|[\w.-]+@[\w.-]+:)/.test(word))
    ? "pushes to a URL written in the command (git push)"
    : undefined;
}

function skipsHooks(verb: string): string {
  return `skips the repository's hooks (git ${verb} --no-verify)`;
}
