/** The options that are known not to make a program write, run or follow anything. Any other option needs approval. */
export type Options = {
  /** Letters without a value, alone or together after one dash. */
  flags?: string;
  /** Letters with a value, in the same word or the next one. */
  valued?: Readonly<Record<string, RegExp | ((value: string) => boolean)>>;
  /** Matches words that begin with two dashes, with their values after `=`. */
  long?: RegExp;
  /** Set where `-20` is a number of lines. */
  isNumeric?: boolean;
  /**
   * The program writes to its last operand, so no option may follow an operand: some programs would read it as one more
   * operand.
   */
  isLastWritten?: boolean;
};

export type Arguments = {
  operands: readonly string[];
  /** The letters and long names that occurred, with their values. */
  given: ReadonlyMap<string, readonly string[]>;
};

/**
 * Parses the words after a program's name; `undefined` if a word is unknown. After an operand, some programs still read
 * options and others read only operands. An option there must be harmless either way, so no file may have its name.
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

/** Whether no field of the format is so wide that a few words would fill a disk. */
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
      // Some programs include the `=` in the value, others do not.
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
