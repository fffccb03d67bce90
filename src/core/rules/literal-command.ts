import { readCommand, type SimpleCommand } from "../../review/shell/index.ts";

/** How a command is joined to the one before it. */
export type Joint = "&&" | "||" | ";" | "|";
export type LiteralCommand = { words: readonly string[]; joint: Joint | undefined; parsed: SimpleCommand };

const MAX_CHARS = 4_096;
/** Shells disagree on what else is a blank, and no locale reads these otherwise. */
const ASCII = /^[\t\n\x20-\x7e]*$/;

/** Claude Code makes `>nul` a `>/dev/null` before it runs a command, inside of quotes too. */
const REWRITTEN = />[ \t]*nul/i;

const END = "(?=[ \\t\\n;|]|$|&&)";
const BLANKS = /[ \t]+/y;
const JOINT = /&&|\|\||[|;\n]/y;
const HARMLESS_REDIRECT = new RegExp(`(?:[12]?>[ \\t]*/dev/null|2>&1)${END}`, "y");
const BRACKET = new RegExp(`[[\\]]${END}`, "y");
const WORD_END = new RegExp(END, "y");
/** No character that any shell expands, wherever it stands. */
const PLAIN = /[A-Za-z0-9_./:,+@%=-]+/y;
const ESCAPED = /\\([^A-Za-z0-9\t\n])/y;
/** Two in a row are one text with a quote in it to some shells. */
const SINGLE_QUOTED = /'([^'\n]*)'(?!')/y;
const DOUBLE_QUOTED = /"((?:[^"\\$`!\n]|\\[^\n!])*)"/y;

/**
 * A command that is nothing but literal words joined by `&& || ; |`, or nothing. It knows only the part of the
 * language that all shells read alike, and what it reads must be what the real parser reads too.
 */
export function literalCommands(source: string): LiteralCommand[] | undefined {
  if (source.length > MAX_CHARS || !ASCII.test(source) || REWRITTEN.test(source)) return undefined;
  const commands = split(source);
  if (!commands) return undefined;
  const reading = readCommand(source);
  if (reading.problems.length > 0 || reading.commands.length !== commands.length) return undefined;
  const agreed = commands.flatMap(({ words, joint }, at) => {
    const parsed = reading.commands[at];
    return parsed && isSame(words, joint, parsed) ? [{ words, joint, parsed }] : [];
  });
  return agreed.length === commands.length ? agreed : undefined;
}

function isSame(words: readonly string[], joint: Joint | undefined, parsed: SimpleCommand): boolean {
  return (
    parsed.words.length === words.length &&
    parsed.words.every(({ value, isDynamic }, at) => !isDynamic && value === words[at]) &&
    parsed.assignments.length === 0 &&
    parsed.redirects.every(({ target }) => target === undefined || target.value === "/dev/null") &&
    !parsed.isSubstituted &&
    parsed.isFed === (joint === "|")
  );
}

type Split = { words: string[]; joint: Joint | undefined };

function split(source: string): Split[] | undefined {
  const commands: Split[] = [];
  let current: Split = { words: [], joint: undefined };
  for (let at = 0; at < source.length; ) {
    const blanks = matchAt(BLANKS, source, at) ?? (current.words.length > 0 && matchAt(HARMLESS_REDIRECT, source, at));
    if (blanks) {
      at += blanks[0].length;
      continue;
    }
    const joint = matchAt(JOINT, source, at)?.[0];
    if (joint) {
      at += joint.length;
      const isLineBreak = joint === "\n";
      if (current.words.length > 0) {
        commands.push(current);
        current = { words: [], joint: isLineBreak ? ";" : toJoint(joint) };
      } else if (!isLineBreak) return undefined;
      continue;
    }
    const word = wordAt(source, at);
    if (!word) return undefined;
    // A name that is quoted or escaped means to get around something.
    if (current.words.length === 0 && (word.text !== word.value || word.value.includes("="))) return undefined;
    current.words.push(word.value);
    at += word.text.length;
  }
  if (current.words.length > 0) commands.push(current);
  else if (current.joint !== ";") return undefined;
  return commands.length > 0 ? commands : undefined;
}

function wordAt(source: string, from: number): { text: string; value: string } | undefined {
  // To zsh, `=name` is the path of a program.
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

function toJoint(text: string): Joint {
  return text === "&&" || text === "||" || text === "|" ? text : ";";
}
