import { type Arguments, readArguments, valuesOf } from "../syntax/options.ts";
import type { Word } from "../syntax/parsed-command.ts";
import type { ProgramCall } from "./programs.ts";

/** The options before git's verb, the verb, and the words after it. */
type GitArguments = { before: Arguments; verb: string; rest: Word[] };

const BEFORE = { short: "Cc", long: ["git-dir", "work-tree", "namespace", "exec-path", "config-env"] };
/** Verbs that only read. */
const READ_ONLY = new Set(
  "status log diff show blame grep ls-files ls-tree ls-remote rev-parse rev-list describe shortlog cat-file branch tag remote config help reflog merge-base fetch".split(
    " ",
  ),
);
const OUTPUT = { short: "o", long: ["output-directory"] };

export function gitArguments({ args }: ProgramCall): GitArguments {
  const before = readArguments(args, BEFORE, true);
  const [verb, ...rest] = before.operands;
  return { before, verb: verb?.value ?? "", rest };
}

/** Returns the paths that git would change, as far as its arguments name them. */
export function gitTargets(command: ProgramCall): Word[] {
  const { before, verb, rest } = gitArguments(command);
  const directories = valuesOf(before.options, "-C", "--git-dir", "--work-tree");
  const { options, operands } = readArguments(rest, verb === "clone" || verb === "init" ? CLONE : OUTPUT);
  const isWriting = !READ_ONLY.has(verb);
  return [
    ...(isWriting ? directories : []),
    ...(["diff", "log", "show", "format-patch", "archive"].includes(verb)
      ? valuesOf(options, "-o", "--output-directory")
      : []),
    ...(verb === "clone" ? operands.slice(1, 2) : []),
    ...(verb === "init" ? operands.slice(0, 1) : []),
    ...(verb === "worktree" && operands[0]?.value === "add" ? operands.slice(1, 2) : []),
    ...(verb === "bundle" && operands[0]?.value === "create" ? operands.slice(1, 2) : []),
    ...(verb === "mv" ? operands : []),
  ];
}
const CLONE = {
  short: "bocujC",
  long: ["branch", "depth", "origin", "reference"],
};
