/** The options with which a program is known not to write, run or follow anything; any other is asked about. */
export type Options = {
  /** Letters without a value, alone or together after one dash. */
  flags?: string;
  /** Letters with a value, in the same word or the next one. */
  valued?: Readonly<Record<string, RegExp | ((value: string) => boolean)>>;
  /** CommandLine words that begin with two dashes, with their values after `=`. */
  long?: RegExp;
  /** `-20` is a number of lines. */
  isNumeric?: boolean;
  /** The program writes to an operand that follows another, so nothing that could be an operand may follow. */
  isLastWritten?: boolean;
};

export type Arguments = {
  operands: readonly string[];
  /** The letters and long names that were given, with their values. */
  given: ReadonlyMap<string, readonly string[]>;
};

/**
 * Reads the words after a program's name; `undefined` if one is not known. After an operand, some programs still read
 * options and others read only operands, so an option there must be harmless as both: no file may have its name.
 */
export function readArguments(
  words: readonly string[],
  options: Options,
  isAbsent: (word: string) => boolean,
): Arguments | undefined {
  const operands: string[] = [];
  const given = new Map<string, string[]>();
  const add = (name: string, value: string) => given.set(name, [...(given.get(name) ?? []), value]);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (word === "-" || !word.startsWith("-")) {
      operands.push(word);
      continue;
    }
    const taken = optionAt(word, words[at + 1], options);
    if (!taken) return undefined;
    const used = words.slice(at, at + taken.words);
    if (operands.length > 0 && (options.isLastWritten || !used.every(isAbsent))) return undefined;
    for (const [name, value] of taken.given) add(name, value);
    at += taken.words - 1;
  }
  return { operands, given };
}

/** Whether the format has no field so wide that a few words would fill a disk. */
export function isBoundedFormat(format: string): boolean {
  return !/%[^%A-Za-z]*\d{4}/.test(format);
}

type Taken = { words: 1 | 2; given: [name: string, value: string][] };

function optionAt(word: string, next: string | undefined, options: Options): Taken | undefined {
  if (word.startsWith("--")) {
    if (!options.long?.test(word)) return undefined;
    const [name = "", ...value] = word.split("=");
    return { words: 1, given: [[name, value.join("=")]] };
  }
  if (options.isNumeric && /^-\d{1,9}$/.test(word)) return { words: 1, given: [] };
  const { flags = "", valued = {} } = options;
  const given: Taken["given"] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? "";
    const check = Object.hasOwn(valued, letter) ? valued[letter] : undefined;
    if (check) {
      const attached = word.slice(at + 1);
      // Some programs read the `=` as part of the value, others do not.
      if (attached.startsWith("=")) return undefined;
      const value = attached === "" ? next : attached;
      if (value === undefined || !(typeof check === "function" ? check(value) : check.test(value))) return undefined;
      given.push([letter, value]);
      return { words: attached === "" ? 2 : 1, given };
    }
    if (!flags.includes(letter)) return undefined;
    given.push([letter, ""]);
  }
  return { words: 1, given };
}
