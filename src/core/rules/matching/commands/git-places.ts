import type { ReadableFiles } from "../../readable-files.ts";
import { namesExisting, namesOutside, namesRepository } from "./named-paths.ts";

/** Verbs that exchange commits with another repository. That repository may run its own code. */
const EXCHANGING = /^(?:push|fetch|pull|clone|ls-remote|remote)$/;
/** Their options that take no value from the next word; any other option may take one. */
const FLAGS =
  /^(?:-[46aflnpqtuv]+|--.*=.*|--no-.*|--(?:set-upstream|force|force-with-lease|tags|follow-tags|prune|prune-tags|quiet|verbose|dry-run|all|branches|atomic|progress|porcelain|rebase|ff|ff-only|squash|unshallow|delete|mirror))$/;
/** Whether git would use a repository that its settings do not name, or files outside of its own repository. */
export function leavesRepository(
  verb: string,
  given: readonly string[],
  patternLength: number,
  files: ReadableFiles,
): boolean {
  const rest = given.slice(patternLength);
  // If one of the two paths is outside, git compares them without a repository.
  if (verb === "diff") return namesOutside(rest, files);
  if (!EXCHANGING.test(verb)) return false;
  return namesRepository(rest, files) || (/^(?:push|fetch|pull)$/.test(verb) && namesHost(verb, given, patternLength));
}

/** Whether the first operand is `host:path` instead of the name of a remote. A later operand may be `from:to`. */
function namesHost(verb: string, given: readonly string[], patternLength: number): boolean {
  let before = "";
  for (const [at, word] of given.entries()) {
    if (at <= given.indexOf(verb, 1)) continue;
    const mayBeValue = /^-./.test(before) && before !== "--" && !FLAGS.test(before);
    before = word;
    if (/^-./.test(word)) continue;
    if (at >= patternLength && word.includes(":")) return true;
    if (!mayBeValue) return false;
  }
  return false;
}

/** Whether git would overwrite files with committed versions: `checkout` reads a word as a path or a branch. */
export function putsFilesBack(verb: string, rest: readonly string[], files: ReadableFiles): boolean {
  return verb === "checkout" && (rest.some((word) => /[*?[]|^:/.test(word)) || namesExisting(rest, files));
}

/** Whether git would store all files of the working directory. */
export function gitAddsAll(verb: string, words: readonly string[]): boolean {
  const isAll = (word: string) => /^-[a-zA-Z]*[Aau]|^--(?:all|update|include-untracked)/.test(word);
  return /^(?:add|stash)$/.test(verb) && words.some(isAll);
}
