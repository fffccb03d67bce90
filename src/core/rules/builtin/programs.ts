import { type CommandContext, isAbsent, isListable, isReadableFile, isReadableTree } from "../command-context.ts";
import { type Arguments, isBoundedFormat, type Options, readArguments } from "./arguments.ts";

/** How a program uses its operands. */
type Operands = "none" | "text" | "files" | "entries" | "trees";
type Program = Options & {
  operands: Operands;
  least?: number;
  most?: number;
  /** Options that make the program descend into directories. */
  descends?: readonly string[];
};

const ANY = /^/;
const NUMBER = /^\d{1,9}$/;
/** The width of a column, bounded so that a few words can't print gigabytes. */
const WIDTH = /^\d{1,3}$/;
const AMOUNT = /^[-+]?\d{1,12}[bkKmMG]?$/;
const RANGES = /^[\d,-]{1,200}$/;
const SORT_KEY = /^\d{1,4}(?:\.\d{1,4})?[bdfgiMhnRrV]*(?:,\d{1,4}(?:\.\d{1,4})?[bdfgiMhnRrV]*)?$/;

const SUMS: Program = { operands: "files" };

/**
 * Programs that only read, each with the options that are harmless in the GNU, BSD and BusyBox versions. An option is
 * left out if it has a value in only some of them.
 *
 * These are excluded on purpose: `git`, since what it reads in a repository can name programs that it runs
 * (`core.fsmonitor`, `diff.external`, filters, hooks, submodules with settings of their own, promisor remotes), and
 * `status` writes the index; `rg`, since `RIPGREP_CONFIG_PATH` can make it follow links or run a preprocessor; `awk`,
 * `jq`, `env` and `printenv`, since they write, run, or print the environment with its keys; `xxd`, since it writes its
 * second operand.
 */
const PROGRAMS = new Map<string, Program>([
  ["true", { operands: "text" }],
  ["false", { operands: "text" }],
  ["echo", { operands: "text", flags: "neE" }],
  ["pwd", { operands: "none", flags: "LP" }],
  ["whoami", { operands: "none" }],
  ["hostname", { operands: "none" }],
  ["id", { operands: "none", flags: "ugnGr" }],
  ["uname", { operands: "none", flags: "asnrvmpio" }],
  ["basename", { operands: "text", flags: "a", valued: { s: ANY } }],
  ["dirname", { operands: "text" }],
  [
    "ls",
    {
      operands: "entries",
      flags: "1aAlhtrSRFpdisnogkmcuxqCU",
      long: /^--(?:all|almost-all|recursive|reverse|human-readable|directory|inode|size|full-time|group-directories-first|color(?:=(?:auto|always|never))?|sort=\w+|time=\w+|time-style=[\w+%:. -]+)$/,
      descends: ["R", "--recursive"],
    },
  ],
  [
    "stat",
    {
      operands: "entries",
      least: 1,
      flags: "L",
      valued: { c: isBoundedFormat },
      long: /^--(?:format|printf)=(?!.*%[^%A-Za-z]*\d{4})/s,
    },
  ],
  ["file", { operands: "files", least: 1, flags: "bi", long: /^--(?:brief|mime|mime-type|mime-encoding)$/ }],
  ["realpath", { operands: "entries", least: 1, flags: "eq" }],
  ["readlink", { operands: "entries", least: 1, flags: "fn" }],
  [
    "du",
    {
      operands: "trees",
      flags: "shackmx",
      valued: { d: NUMBER },
      long: /^--(?:all|summarize|human-readable|total|apparent-size|bytes|max-depth=\d{1,4})$/,
    },
  ],
  ["cat", { operands: "files", flags: "nbsveEtTA", long: /^--(?:number|number-nonblank|show-all|squeeze-blank)$/ }],
  ["head", { operands: "files", flags: "qv", valued: { n: AMOUNT, c: AMOUNT }, isNumeric: true, long: lines() }],
  ["tail", { operands: "files", flags: "qv", valued: { n: AMOUNT, c: AMOUNT }, isNumeric: true, long: lines() }],
  ["wc", { operands: "files", flags: "lwcmL", long: /^--(?:lines|words|bytes|chars|max-line-length)$/ }],
  [
    "sort",
    {
      operands: "files",
      flags: "nrufbdighVMRscCm",
      valued: { k: SORT_KEY, t: /^.$/ },
      long: /^--(?:reverse|unique|numeric-sort|human-numeric-sort|version-sort|general-numeric-sort|ignore-case|stable)$/,
    },
  ],
  // `uniq` would write to a second operand.
  ["uniq", { operands: "files", most: 1, isLastWritten: true, flags: "cdui", valued: { f: NUMBER, s: NUMBER } }],
  [
    "cut",
    {
      operands: "files",
      flags: "s",
      valued: { d: ANY, f: RANGES, c: RANGES, b: RANGES },
      long: /^--(?:complement|only-delimited|delimiter=.*|fields=[\d,-]+|output-delimiter=.*)$/,
    },
  ],
  ["tr", { operands: "text", least: 1, most: 2, flags: "cCds" }],
  ["nl", { operands: "files", flags: "p", valued: { b: /^[atn]$/, s: ANY, w: WIDTH, v: NUMBER, n: /^(?:ln|rn|rz)$/ } }],
  ["tac", { operands: "files" }],
  ["rev", { operands: "files" }],
  ["comm", { operands: "files", least: 2, most: 2, flags: "123" }],
  ["cmp", { operands: "files", least: 2, most: 2, flags: "sl" }],
  // Files only: given two directories, `diff` follows the links in them.
  [
    "diff",
    {
      operands: "files",
      least: 2,
      most: 2,
      flags: "uqswbBiya",
      valued: { U: NUMBER, C: NUMBER, W: WIDTH },
      long: /^--(?:brief|unified(?:=\d{1,6})?|side-by-side|ignore-all-space|ignore-space-change|ignore-blank-lines|ignore-case|suppress-common-lines|color=never)$/,
    },
  ],
  ["cksum", SUMS],
  ["md5sum", SUMS],
  ["sha1sum", SUMS],
  ["sha256sum", SUMS],
  ["sha512sum", SUMS],
]);

/** The names of these programs, for the docs. */
export const READING_PROGRAMS: readonly string[] = [...PROGRAMS.keys()];

/** Whether the program with these arguments only reads what may be read. */
export function isKnownReader(name: string, words: readonly string[], context: CommandContext): boolean {
  const program = PROGRAMS.get(name);
  if (!program) return false;
  // The words only change what the program prints.
  if (program.operands === "text" && name !== "tr" && name !== "basename" && name !== "dirname") return true;
  const read = readArguments(words, program, (word) => isAbsent(word, context));
  return read !== undefined && areOperandsReadable(read, program, context);
}

function areOperandsReadable({ operands, given }: Arguments, program: Program, context: CommandContext): boolean {
  const { least = 0, most = Number.POSITIVE_INFINITY } = program;
  if (operands.length < least || operands.length > most) return false;
  const descends = program.descends?.some((name) => given.has(name)) ?? false;
  switch (program.operands) {
    case "none":
      return operands.length === 0;
    case "text":
      return true;
    case "files":
      // `tail` and `sort` read `+` as the start of an old-style option.
      return operands.every((word) => !word.startsWith("+") && isReadableFile(word, context));
    case "entries":
      return orCurrentDir(operands).every((word) =>
        descends ? isReadableTree(word, context) : isListable(word, context),
      );
    case "trees":
      return orCurrentDir(operands).every((word) => isReadableTree(word, context));
  }
}

function orCurrentDir(operands: readonly string[]): readonly string[] {
  return operands.length > 0 ? operands : ["."];
}

function lines(): RegExp {
  return /^--(?:lines=[-+]?\d{1,9}|bytes=[-+]?\d{1,12}|quiet|verbose)$/;
}
