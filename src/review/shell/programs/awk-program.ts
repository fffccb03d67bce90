import { isNamed, readArguments, valuesOf } from "../syntax/options.ts";
import type { Word } from "../syntax/parsed-command.ts";
import type { Subject } from "./programs.ts";

/** What an awk does beside printing. */
export type AwkWork = { runs: boolean; writes: Word[] };

const AWK = { short: "FvfieEl", long: ["field-separator", "assign", "include", "load"] };

export function awkProgram({ args }: Subject): AwkWork {
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

/** Whether a program of awk runs commands, and which files it writes; texts and patterns of its own apart. */
export function awkText(program: string): { runs: boolean; files: string[] } {
  const texts: string[] = [];
  const bare = program
    // A text without an end is taken too, so that no part of it is looked at twice.
    .replace(/"((?:[^"\\\n]|\\.)*)("?)/g, (all, text: string, end: string) =>
      end === "" ? all : `"${texts.push(text) - 1}"`,
    )
    .replace(/(^|[(,{;!~&|\n]|\breturn)([ \t]*)\/(?:[^/\\\n]|\\.)+\//g, "$1$2");
  const files = [...bare.matchAll(/\bprintf?\b[^;}\n]{0,200}>>?\s*"(\d+)"/g)].flatMap(
    ([, at]) => texts[Number(at)] ?? [],
  );
  return { runs: /\bsystem\s*\(|(?<!\|)\|(?!\|)|@load\b/.test(bare), files };
}
