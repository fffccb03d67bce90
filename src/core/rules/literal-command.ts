import { parseCommand, type SimpleCommand } from "../../review/shell/index.ts";

/** The operator between a command and the one before it. */
type Separator = "&&" | "||" | ";" | "|";
export type LiteralCommand = {
  words: readonly string[];
  separator: Separator | undefined;
  /** The files to which the command's output is redirected. */
  writes: readonly string[];
  parsed: SimpleCommand;
};
/** With `mayWrite`, redirects to files are accepted; otherwise a line with such a redirect is not literal. */
type Options = { mayWrite?: boolean };

const MAX_CHARS = 4_096;
/** Shells disagree on which other characters are blanks; these have the same meaning in every locale. */
const ASCII = /^[\t\n\x20-\x7e]*$/;

/** Claude Code changes `>nul` to `>/dev/null` before it runs a command, even inside quotes. */
const REWRITTEN = />[ \t]*nul/i;

const END = "(?=[ \\t\\n;|]|$|&&)";
const BLANKS = /[ \t]+/y;
const SEPARATOR = /&&|\|\||[|;\n]/y;
const HARMLESS_REDIRECT = new RegExp(`(?:[12]?>[ \\t]*/dev/null|2>&1)${END}`, "y");
const WRITE = /[12]?>>?[ \t]*(?![[\]])/y;
const BRACKET = new RegExp(`[[\\]]${END}`, "y");
const WORD_END = new RegExp(END, "y");
/** Characters that no shell expands, in any position. */
const PLAIN = /[A-Za-z0-9_./:,+@%=-]+/y;
const ESCAPED = /\\([^A-Za-z0-9\t\n])/y;
/** Some shells read two adjacent single-quoted texts as one text that contains a quote. */
const SINGLE_QUOTED = /'([^'\n]*)'(?!')/y;
const DOUBLE_QUOTED = /"((?:[^"\\$`!\n]|\\[^\n!])*)"/y;

/**
 * Splits a command line that consists of literal words joined by `&& || ; |`; returns `undefined` for any other. It
 * accepts only syntax that all shells read in the same way, and its result must agree with that of the full parser.
 */
export function literalCommands(source: string, { mayWrite = false }: Options = {}): LiteralCommand[] | undefined {
  if (source.length > MAX_CHARS || !ASCII.test(source) || REWRITTEN.test(source)) return undefined;
  const commands = split(source, mayWrite);
  if (!commands) return undefined;
  const whole = parseCommand(source);
  if (whole.problems.length > 0 || whole.commands.length !== commands.length) return undefined;
  const agreed = commands.flatMap((command, at) => {
    const parsed = whole.commands[at];
    return parsed && isSame(command, parsed) ? [{ ...command, parsed }] : [];
  });
  return agreed.length === commands.length ? agreed : undefined;
}

function isSame({ words, separator, writes }: Split, parsed: SimpleCommand): boolean {
  const files = parsed.redirects.filter(({ target }) => target !== undefined && target.value !== "/dev/null");
  return (
    parsed.words.length === words.length &&
    parsed.words.every(({ value, isDynamic }, at) => !isDynamic && value === words[at]) &&
    parsed.assignments.length === 0 &&
    files.length === writes.length &&
    files.every(
      ({ operator, target }, at) => /^>>?$/.test(operator) && !target?.isDynamic && target?.value === writes[at],
    ) &&
    !parsed.isSubstituted &&
    parsed.hasInput === (separator === "|")
  );
}

type Split = { words: string[]; separator: Separator | undefined; writes: string[] };

function split(source: string, mayWrite: boolean): Split[] | undefined {
  const commands: Split[] = [];
  let current: Split = { words: [], separator: undefined, writes: [] };
  for (let at = 0; at < source.length; ) {
    const blanks = matchAt(BLANKS, source, at) ?? (current.words.length > 0 && matchAt(HARMLESS_REDIRECT, source, at));
    if (blanks) {
      at += blanks[0].length;
      continue;
    }
    const separator = matchAt(SEPARATOR, source, at)?.[0];
    if (separator) {
      at += separator.length;
      const isLineBreak = separator === "\n";
      if (current.words.length > 0) {
        commands.push(current);
        current = { words: [], separator: isLineBreak ? ";" : toSeparator(separator), writes: [] };
      } else if (!isLineBreak) return undefined;
      continue;
    }
    const write = mayWrite && current.words.length > 0 ? matchAt(WRITE, source, at) : undefined;
    if (write) {
      const file = wordAt(source, at + write[0].length);
      if (!file || file.value === "") return undefined;
      current.writes.push(file.value);
      at += write[0].length + file.text.length;
      continue;
    }
    const word = wordAt(source, at);
    if (!word) return undefined;
    // Quoting or escaping a program's name usually serves to get around a check.
    if (current.words.length === 0 && (word.text !== word.value || word.value.includes("="))) return undefined;
    current.words.push(word.value);
    at += word.text.length;
  }
  if (current.words.length > 0) commands.push(current);
  else if (current.separator !== ";") return undefined;
  return commands.length > 0 ? commands : undefined;
}

function wordAt(source: string, from: number): { text: string; value: string } | undefined {
  // zsh expands `=name` to the path of a program.
  if (source[from] === "=") return undefined;
  const bracket = matchAt(BRACKET, source, from)?.[0];
  if (bracket) return { text: bracket, value: bracket };
  let value = "";
  let at = from;
  while (at < source.length && !matchAt(WORD_END, source, at)) {
    const piece = pieceAt(source, at);
    if (!piece) return undefined;
    value += piece.value;
    at += piece.length;
  }
  return at === from ? undefined : { text: source.slice(from, at), value };
}

function pieceAt(source: string, at: number): { length: number; value: string } | undefined {
  const plain = matchAt(PLAIN, source, at)?.[0];
  if (plain) return { length: plain.length, value: plain };
  const quoted = matchAt(ESCAPED, source, at) ?? matchAt(SINGLE_QUOTED, source, at);
  if (quoted) return { length: quoted[0].length, value: quoted[1] ?? "" };
  const double = matchAt(DOUBLE_QUOTED, source, at);
  return double && { length: double[0].length, value: (double[1] ?? "").replaceAll(/\\([$`"\\])/g, "$1") };
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}

function toSeparator(text: string): Separator {
  return text === "&&" || text === "||" || text === "|" ? text : ";";
}
