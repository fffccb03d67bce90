/**
 * For each short option, its long names, any of which has the same meaning. `delete+force` stands for both together.
 */
type Names = Readonly<Record<string, readonly string[]>>;

const USUAL: Names = { r: ["recursive"], R: ["recursive"], f: ["force"], a: ["all"], d: ["delete"], g: ["global"] };
const FORCED: Names = { ...USUAL, n: ["no-verify"], D: ["delete+force"], u: ["set-upstream"] };
const CURL: Names = {
  d: ["data", "data-raw", "data-binary", "data-ascii", "data-urlencode"],
  F: ["form"],
  H: ["header"],
  K: ["config"],
  L: ["location"],
  T: ["upload-file"],
  X: ["request"],
  o: ["output"],
};
const DOCKER: Names = { ...USUAL, v: ["volume"], e: ["env"], u: ["user"] };

const PROGRAMS = new Map<string, Names>([
  ["git", FORCED],
  ["curl", CURL],
  ["docker", DOCKER],
  ["podman", DOCKER],
]);

export function isOption(word: string): boolean {
  return word.length > 1 && word.startsWith("-");
}

/** Whether the words contain the option: in a cluster, with a value, abbreviated, or by its other name. */
export function hasOption(program: string, given: readonly string[], sought: string): boolean {
  if (given.includes(sought)) return true;
  const names = PROGRAMS.get(program) ?? USUAL;
  if (sought.startsWith("--")) return hasLong(given, sought.slice(2), names);
  return [...sought.slice(1)].every((letter) => hasLetter(given, letter, names));
}

function hasLetter(given: readonly string[], letter: string, names: Names): boolean {
  const same = letters(names, letter);
  const long = Object.hasOwn(names, letter) ? (names[letter] ?? []) : [];
  if (given.some((word) => isCluster(word) && same.some((one) => word.includes(one)))) return true;
  return long.some((name) => name.split("+").every((one) => given.some((word) => isLong(word, one))));
}

function hasLong(given: readonly string[], sought: string, names: Names): boolean {
  const [name = ""] = sought.split("=", 1);
  if (sought.includes("="))
    return given.includes(`--${sought}`) || hasValue(given, name, sought.slice(name.length + 1));
  const short = Object.keys(names).filter((letter) => longNames(names, letter).includes(name));
  return given.some((word) => isLong(word, name) || (isCluster(word) && short.some((letter) => word.includes(letter))));
}

/** Whether the words contain `--name value` as two words. */
function hasValue(given: readonly string[], name: string, value: string): boolean {
  return given.some((word, at) => isLong(word, name) && given[at + 1] === value);
}

/** The letters with the same or a wider meaning, such as `-R` for `-r` and `-D` for `-d`. */
function letters(names: Names, letter: string): string[] {
  const long = longNames(names, letter);
  if (long.length === 0) return [letter];
  return Object.keys(names).filter((one) => long.every((name) => longNames(names, one).includes(name)));
}

function longNames(names: Names, letter: string): string[] {
  return Object.hasOwn(names, letter) ? (names[letter] ?? []).flatMap((name) => name.split("+")) : [];
}

function isCluster(word: string): boolean {
  return /^-[^-]/.test(word);
}

/** Whether a word is this long option, possibly abbreviated or with a value. */
function isLong(word: string, name: string): boolean {
  if (!word.startsWith("--")) return false;
  const [given = ""] = word.slice(2).split("=", 1);
  return given !== "" && name.startsWith(given);
}
