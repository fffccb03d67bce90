import { familyOf } from "../same-commands.ts";
import { binaryAt } from "../wildcard-limits.ts";
import { GIT_OPTIONS } from "./git-options.ts";
import { isOption } from "./option-names.ts";
import { ANY_OPTIONS, PROGRAM_OPTIONS } from "./program-options.ts";

/** The options that a program accepts without harm. */
type Options = { flags: string; valued: string; names: ReadonlySet<string>; isNumeric: boolean };

/** Options that are harmless for every program. */
const USUAL = read("-v -q -h -V --verbose --quiet --silent --help --version --dry-run --json --color --no-color");
/** Programs that pass words on to a script: after `--`, and some also after the name of the script. */
const PASS_ON: Readonly<Record<string, RegExp>> = {
  npm: /^$/,
  cargo: /^$/,
  go: /^$/,
  pnpm: /^(?:run|run-script|test|t|start)$/,
  yarn: /^(?:run|test|start)$/,
};
/** Words in the names of options that make a program run another program, load code or settings, or write a file. */
const TELLING =
  /^(?:exec|execute|executable|program|prog|command|cmd|shell|eval|script|scripts|pager|editor|browser|viewer|plugin|plugins|hook|hooks|require|import|load|loader|preload|module|config|configuration|conf|settings|rc|init|rsh|ssh|helper|wrapper|filter|pre|post|preprocessor|compiler|linker|interpreter|launcher|runner|tool|proxy|output|out|outfile|reporter|resolver|transform|formatter|engine|engines|provider|providers|library|libraries|driver|extension|extensions|addon|addons|jar|classpath|extern|keyout|environment|setup|prefix|cwd|chdir|directory|root|options|args|codegen|emit|logfile|runtool|sequencer|processor|extractor|serializer|serializers|rulesdir|parser|ui|roots|preset|tsconfig|sysroot|inspect|alias|opts|rcfile|ackrc|pylintrc|eslintrc|bazelrc|call|invoke|callback|action|bind|preview|setenv)$/;
/** Many programs accept an abbreviated option that has at least this many letters. */
const LEAST_LETTERS = 3;

const KNOWN = new Map(Object.entries(PROGRAM_OPTIONS).map(([name, text]): [string, Options] => [name, read(text)]));
const VERBS = new Map(Object.entries(GIT_OPTIONS).map(([verb, text]): [string, Options] => [verb, read(text)]));

/**
 * Whether the options among the words that a wildcard stands for are harmless. A known program may get only its known
 * options. A program that the pattern names may get all options except those whose names suggest that they run, load or
 * write something. Any other program may get only the most common options.
 */
export function areOptionsHarmless(given: readonly string[], patternLength: number, verb: string): boolean {
  const name = familyOf((given[0] ?? "").split("/").at(-1)?.toLowerCase() ?? "");
  const binary = binaryAt(given);
  if (binary >= 0 && binary < patternLength)
    return areOptionsHarmless(given.slice(binary), patternLength - binary, given[binary + 1] ?? "");
  if (ANY_OPTIONS.has(name)) return true;
  const known = name === "git" ? (VERBS.get(verb) ?? USUAL) : KNOWN.get(name);
  const passesFrom = passedOn(name, verb, given);
  return given.every((word, at) => {
    if (at < patternLength || !isOption(word) || word === "--" || word === "--no-pager") return true;
    // Words after `--` go to git.
    if (name === "gh" && isAfterDashes(given, at)) return false;
    if (isTaken(word, USUAL, name)) return true;
    if (at > passesFrom) return !isTelling(word);
    if (known) return isAfterDashes(given, at) || isTaken(word, known, name);
    return patternLength > 0 && !isTelling(word);
  });
}

/** Whether a verb of git accepts the option without harm. */
export function isKnownOfGit(verb: string, word: string): boolean {
  const known = VERBS.get(verb);
  return known !== undefined && (isTaken(word, known, "git") || isTaken(word, USUAL, "git"));
}

/** The index after which the program passes words on; infinity if it passes none on. */
function passedOn(name: string, verb: string, given: readonly string[]): number {
  const passes = Object.hasOwn(PASS_ON, name) ? PASS_ON[name] : undefined;
  if (!passes) return Number.POSITIVE_INFINITY;
  const dashes = given.indexOf("--");
  const script = passes.test(verb) ? given.indexOf(verb, 1) + (/^run/.test(verb) ? 1 : 0) : -1;
  const places = [dashes, script].filter((at) => at > 0);
  return places.length > 0 ? Math.min(...places) : Number.POSITIVE_INFINITY;
}

function isAfterDashes(given: readonly string[], at: number): boolean {
  const dashes = given.indexOf("--");
  return dashes > 0 && dashes < at;
}

function isTaken(word: string, { flags, valued, names, isNumeric }: Options, program: string): boolean {
  const [whole = ""] = word.split("=", 1);
  // Go accepts one dash as well as two.
  if (names.has(whole) || (program === "go" && names.has(`-${whole}`))) return true;
  if (word.startsWith("--") || program === "go") return false;
  if (isNumeric && /^-\d+$/.test(word)) return true;
  for (const letter of word.slice(1)) {
    if (valued.includes(letter)) return true;
    if (!flags.includes(letter)) return false;
  }
  return true;
}

/**
 * Whether a part of the option's name suggests that it may run, load or write something. A single letter suggests
 * nothing.
 */
function isTelling(word: string): boolean {
  const [, name = ""] = /^--?([^=]*)/.exec(word) ?? [];
  if (!word.startsWith("--") && name.length <= LEAST_LETTERS) return false;
  const parts = name
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[-_.]/);
  return (
    // Such an option names a command to run on an event.
    parts[0] === "on" ||
    parts.some((part) => TELLING.test(part) || TELLING.test(part.replace(/s$/, ""))) ||
    TELLING_NAMES.some((one) => isShortFor(name, one))
  );
}

const TELLING_NAMES = TELLING.source.replaceAll(/^\^\(\?:|\)\$$/g, "").split("|");

function isShortFor(name: string, whole: string): boolean {
  return name.length >= LEAST_LETTERS && whole.startsWith(name.toLowerCase());
}

function read(text: string): Options {
  const words = text.split(/\s+/);
  const short = words.filter((word) => /^-[^-]:?$/.test(word));
  return {
    flags: short.map((word) => (word.endsWith(":") ? "" : word.slice(1))).join(""),
    valued: short.map((word) => (word.endsWith(":") ? word.slice(1, 2) : "")).join(""),
    names: new Set(words.filter((word) => word.startsWith("--") || (/^-[^-]{2,}$/.test(word) && !word.endsWith(":")))),
    isNumeric: words.includes("-#"),
  };
}
