import { INTERPRETERS, JQ, LIMITS, type Limits, LOADERS, LONG, RUNNERS } from "./options/program-limits.ts";
import { ANY_OPTIONS, takesOnlyData } from "./options/program-options.ts";
import {
  binaryIn,
  endsBeforeBinary,
  isPackageManager,
  namesPackagePlace,
  takesArgumentFile,
  verbsIn,
} from "./package-managers.ts";
import { familyOf } from "./same-commands.ts";
import { targetsFrom } from "./targets.ts";

/** Verbs that make most programs run the words that follow. */
const RUNNING_VERB = /^(?:exec|eval|shell|ssh)$/;
/** Programs that read `@name` as a package, a commit or a person, never as a file with more arguments. */
const NO_ARGUMENT_FILES = setOf("git gh rg ag ack pip");
/** The same, except after `--`: those words go to another program. */
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
  if (
    RUNNING_VERB.test(verb) &&
    given.indexOf(verb, 1) >= patternLength &&
    !takesOnlyData(name) &&
    targetsFrom(family, []) === undefined
  )
    return false;
  if (printsEnvironment(family, given, patternLength)) return false;
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

/** Whether the command prints the environment: npm does so if no script is called `env`, and so does a query of gh. */
function printsEnvironment(family: string, given: readonly string[], patternLength: number): boolean {
  if (family === "npm") {
    const script = given.findIndex((word, at) => at > verbsIn(given).meant && !word.startsWith("-"));
    return script >= patternLength && given[script] === "env" && /^run/.test(given[verbsIn(given).meant] ?? "");
  }
  const isQuery = (word: string) => /^--jq?(?:=|$)|^-[A-Za-z]*q/.test(word);
  return family === "gh" && given.some(isQuery) && given.some((word) => JQ.test(word.replace(/^-[A-Za-z]*?q/, "")));
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

/** Whether a program, or a script to which it passes the word, could read `@name` as a file with arguments. */
function isArgumentFile(family: string, given: readonly string[], at: number): boolean {
  if (NO_ARGUMENT_FILES.has(family) || ANY_OPTIONS.has(family)) return false;
  if (isPackageManager(family)) return takesArgumentFile(family, given, at);
  const dashes = given.indexOf("--");
  return !HANDING_ON.has(family) || (dashes > 0 && dashes < at);
}

/** The position of the program in `node_modules/.bin` that yarn or pnpm would run; -1 if there is none. */
export function binaryAt(given: readonly string[]): number {
  const family = familyOf(programAndVerb(given).name);
  return binaryIn(family, given, limitsOf(family).verbs ?? new Set());
}

function limitsOf(family: string): Limits {
  return (Object.hasOwn(LIMITS, family) && LIMITS[family]) || {};
}

/** Whether a wildcard after these words may cover any command. */
export function wildcardMayCoverAny(words: readonly string[]): boolean {
  const { name, verb } = programAndVerb(words);
  // The verb may be one of the words that the wildcard stands for; more words can only narrow what it covers.
  if (verb === "") return !isRunner(name);
  return wildcardMayCover(words, words.length) && !endsBeforeBinary(familyOf(name), words);
}

/** Whether a program executes what its arguments, input or files contain. */
export function isRunner(name: string): boolean {
  // GNU programs may be installed as `genv` and the like, and each verb of git has a program of its own.
  const low = name.toLowerCase();
  const names = [name, low, low.replace(/^g(?=env$|xargs$|sed$|awk$|find$|timeout$|nice$|nohup$|stdbuf$)/, "")];
  const plain = names.flatMap((one) => [one, one.replace(/(?:-static|\.exe|-?\d[\d.]*)+$/, "")]);
  return low.startsWith("git-") || plain.some((one) => RUNNERS.has(one) || INTERPRETERS.test(one) || LOADERS.test(one));
}

/** Options without a value that may stand before a verb and do not change its meaning. */
const BEFORE_VERB = setOf("--no-pager --silent --quiet --verbose --locked --offline --frozen -q -v -vv");

/** The program's name and its verb: the first word that is not one of these options. */
export function programAndVerb([program = "", ...rest]: readonly string[]): { name: string; verb: string } {
  // Some file systems treat `GIT` and `git` as one.
  return {
    name: (program.split("/").at(-1) ?? "").toLowerCase(),
    verb: rest.find((word) => !BEFORE_VERB.has(word)) ?? "",
  };
}

/** Whether the word is this long option: abbreviated, extended, or with one dash, as some programs accept it. */
function isOption(word: string, long: string): boolean {
  const [, dashes, name = ""] = /^(--?)([^=]+)/.exec(word.replaceAll("_", "-")) ?? [];
  if (dashes === undefined || (dashes === "-" && name.length < 3)) return false;
  return long.startsWith(name) || name.startsWith(long);
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
