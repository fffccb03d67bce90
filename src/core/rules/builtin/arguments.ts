/** All options that a program is known to take without writing, running or following anything: the rest is asked about. */
export type Options = {
  /** Letters that stand alone, or together after one dash. */
  flags?: string;
  /** Letters with a value, in the same word or the next one. */
  valued?: Readonly<Record<string, RegExp | ((value: string) => boolean)>>;
  /** Whole words that begin with two dashes; a value stands after `=`. */
  long?: RegExp;
  /** `-20` is a number of lines. */
  isNumeric?: boolean;
  /** An operand that follows another is written: so nothing may stand there that could be one. */
  isLastWritten?: boolean;
};

export type Arguments = {
  operands: readonly string[];
  /** The letters and long names that were given, with their values. */
  given: ReadonlyMap<string, readonly string[]>;
};

/**
 * Reads the words after a program's name, or nothing where one is not known. What follows an operand is an option to
 * some programs and an operand to others, so it must be harmless as both: there must be nothing of that name.
 */
export function readArguments(
  words: readonly string[],
  options: Options,
  isAbsent: (word: string) => boolean,
): Arguments | undefined {
  const operands: string[] = [];
  const given = new Map<string, string[]>();
  const note = (name: string, value: string) => given.set(name, [...(given.get(name) ?? []), value]);
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
    for (const [name, value] of taken.given) note(name, value);
    at += taken.words - 1;
  }
  return { operands, given };
}

/** Whether it asks for no field so wide that a few words would fill a disk. */
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
      // Some programs take the `=` for a part of the value, and others do not.
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
