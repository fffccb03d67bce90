import type { Word } from "./parsed-command.ts";

/** A program's options that have a value; every other option is a flag. */
export type Valued = { short?: string; long?: string[] };
/** An option with its name as written, including dashes. */
export type Option = { name: string; value: Word | undefined };
export type Arguments = { options: Option[]; operands: Word[] };

/** Reads arguments like getopt: `-abc`, `-ovalue`, `--name=value`, and abbreviated long names. */
export function readArguments(words: Word[], valued: Valued = {}, stopsAtOperand = false): Arguments {
  const options: Option[] = [];
  const operands: Word[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!word) break;
    if (word.value === "--" || (stopsAtOperand && !isOption(word))) {
      return { options, operands: operands.concat(words.slice(word.value === "--" ? at + 1 : at)) };
    }
    if (!isOption(word)) {
      operands.push(word);
      continue;
    }
    const read = word.value.startsWith("--") ? [longOption(word)] : shortOptions(word, valued.short ?? "");
    const last = read.at(-1);
    if (last && last.value === undefined && takesValue(last.name, valued)) last.value = words[++at];
    for (const option of read) options.push(option);
  }
  return { options, operands };
}

/** Whether an option is one of these: `-o`, or `--output` and its abbreviations. */
export function isNamed({ name }: Option, ...wanted: string[]): boolean {
  return wanted.some((one) => one === name || (name.length > 2 && one.startsWith("--") && one.startsWith(name)));
}

export function valuesOf(options: Option[], ...wanted: string[]): Word[] {
  return options.flatMap((option) => (option.value && isNamed(option, ...wanted) ? [option.value] : []));
}

function isOption({ value }: Word): boolean {
  return value.length > 1 && value.startsWith("-");
}

function takesValue(name: string, { short = "", long = [] }: Valued): boolean {
  if (!name.startsWith("--")) return short.includes(name.slice(1));
  return long.some((one) => `--${one}`.startsWith(name));
}

function longOption(word: Word): Option {
  const equals = word.value.indexOf("=");
  if (equals < 0) return { name: word.value, value: undefined };
  return { name: word.value.slice(0, equals), value: cut(word, equals + 1) };
}

function shortOptions(word: Word, valued: string): Option[] {
  const options: Option[] = [];
  for (let at = 1; at < word.value.length; at++) {
    const letter = word.value[at] ?? "";
    const isLast = at === word.value.length - 1;
    options.push({ name: `-${letter}`, value: valued.includes(letter) && !isLast ? cut(word, at + 1) : undefined });
    if (valued.includes(letter)) break;
  }
  return options;
}

function cut(word: Word, from: number): Word {
  return { ...word, value: word.value.slice(from), text: word.value.slice(from) };
}
