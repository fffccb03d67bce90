import type { ReadableFiles } from "../../readable-files.ts";
import { namesOutside, namesRepository } from "./named-paths.ts";
import { searchedPlaces } from "./search-operands.ts";

/** Verbs that exchange commits with another repository, which may run its own code. */
const EXCHANGING = /^(?:push|fetch|pull|clone|ls-remote|remote)$/;
/** Their options that take no value from the next word; any other may. */
const FLAGS =
  /^(?:-[46aflnpqtuv]+|--.*=.*|--no-.*|--(?:set-upstream|force|force-with-lease|tags|follow-tags|prune|prune-tags|quiet|verbose|dry-run|all|branches|atomic|progress|porcelain|rebase|ff|ff-only|squash|unshallow|delete|mirror))$/;
/** Verbs that show what files contain or contained. */
const SHOWING = /^(?:log|show|diff|grep|blame|reflog|range-diff|cat-file|rev-list|shortlog)$/;
/** A pattern that git expands itself, or one of its special ways to name files. */
const EXPANDED = /[*?[\\]|^:[(/!^:]/;

/** Whether git is told to use another repository than those that the settings name, or files outside of its own. */
export function leavesRepository(
  verb: string,
  given: readonly string[],
  patternLength: number,
  files: ReadableFiles,
): boolean {
  const rest = given.slice(patternLength);
  // Two paths of which one is outside are compared without a repository.
  if (verb === "diff") return namesOutside(rest, files);
  if (!EXCHANGING.test(verb)) return false;
  return namesRepository(rest, files) || (/^(?:push|fetch|pull)$/.test(verb) && namesHost(verb, given, patternLength));
}

/** Whether the first operand is `host:path` instead of the name of a remote; a later one may be `from:to`. */
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

/** Whether git goes through the files of the working directory, or through what was committed of them. */
export function gitSearchesHere(verb: string, words: readonly string[], files: ReadableFiles): boolean {
  const has = (option: RegExp) => words.some((word) => option.test(word));
  if (/^(?:add|stash)$/.test(verb)) return has(/^-[a-zA-Z]*[Aau]|^--(?:all|update|include-untracked)/);
  if (!SHOWING.test(verb)) return false;
  const dashes = words.indexOf("--");
  const operands = words.filter((word, at) => !word.startsWith("-") || (dashes >= 0 && at > dashes));
  if (verb === "grep") {
    const places = dashes < 0 ? searchedPlaces("git", words) : words.slice(dashes + 1);
    // A word that is no file may be a commit.
    return places.length === 0 || !places.every((place) => isHere(place, files));
  }
  if (operands.some((word) => EXPANDED.test(word))) return true;
  if (verb === "cat-file") return has(/^--batch(?:$|=|-all|-command)/);
  const showsText =
    /^(?:log|reflog)$/.test(verb) &&
    has(/^-[a-zA-Z]*[puUcmGSLW]|^--(?:patch|unified|word-diff|color-words|cc|full-diff)/);
  return showsText && !(dashes < 0 ? operands : words.slice(dashes + 1)).some((word) => isHere(word, files));
}

function isHere(word: string, files: ReadableFiles): boolean {
  if (EXPANDED.test(word)) return false;
  const kind = files.find(word, files.start)?.kind;
  return kind === "file" || kind === "directory";
}
