import { isNamed, readArguments, valuesOf } from "../syntax/options.ts";
import type { Word } from "../syntax/parsed-command.ts";
import type { ProgramCall } from "./programs.ts";

/** An awk program's effects beside printing. */
type AwkEffect = { runs: boolean; writes: Word[] };

const AWK = { short: "FvfieEl", long: ["field-separator", "assign", "include", "load"] };

export function awkProgram({ args }: ProgramCall): AwkEffect {
  const { options, operands } = readArguments(args, AWK, true);
  const hasFile = options.some((option) => isNamed(option, "-f", "--file", "-E", "--exec"));
  const sources = valuesOf(options, "-e", "--source");
  const [first, ...files] = operands;
  const programs = hasFile || sources.length > 0 ? sources : first ? [first] : [];
  const isInPlace = valuesOf(options, "-i", "--include").some(({ value }) => value === "inplace");
  const work = programs.map((program) => ({ program, ...awkText(program.value) }));
  return {
    runs: work.some(({ runs }) => runs) || valuesOf(options, "-l", "--load").length > 0,
    writes: [
      ...work.flatMap(({ program, files }) => files.map((value) => ({ ...program, value }))),
      ...(isInPlace ? files : []),
    ],
  };
}

/** Finds whether an awk program runs commands, and which files it writes, ignoring its strings and patterns. */
function awkText(program: string): { runs: boolean; files: string[] } {
  const texts: string[] = [];
  const bare = program
    // Also matches an unterminated string, so that no part of it is scanned twice.
    .replace(/"((?:[^"\\\n]|\\.)*)("?)/g, (all, text: string, end: string) =>
      end === "" ? all : `"${texts.push(text) - 1}"`,
    )
    .replace(/(^|[(,{;!~&|\n]|\breturn)([ \t]*)\/(?:[^/\\\n]|\\.)+\//g, "$1$2");
  const files = [...bare.matchAll(/\bprintf?\b[^;}\n]{0,200}>>?\s*"(\d+)"/g)].flatMap(
    ([, at]) => texts[Number(at)] ?? [],
  );
  return { runs: /\bsystem\s*\(|(?<!\|)\|(?!\|)|@load\b/.test(bare), files };
}
