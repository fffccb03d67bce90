import { isNamed, readArguments, valuesOf } from "../syntax/options.ts";
import type { Word } from "../syntax/parsed-command.ts";
import type { ProgramCall } from "./programs.ts";

/** A sed script's effects beside printing. */
type SedEffect = { runs: boolean; writes: Word[]; reads: Word[] };

export function sedArguments({ args }: ProgramCall): SedEffect {
  const valued = { short: "ef", long: ["expression"] };
  const { options, operands } = readArguments(args.map(inPlace), valued);
  const given = valuesOf(options, "-e", "--expression");
  const hasScript = options.some((option) => isNamed(option, "-e", "--expression", "-f", "--file"));
  const [first, ...others] = operands;
  const scripts = hasScript ? given : first ? [first] : [];
  const work = scripts.map((script) => ({ script, ...sedScript(script.value) }));
  const named = (key: "files" | "sources") =>
    work.flatMap(({ script, ...found }) => found[key].map((value) => ({ ...script, value })));
  const isInPlace = options.some((option) => isNamed(option, "-i", "--in-place"));
  const files = hasScript ? operands : others;
  return {
    runs: work.some(({ runs }) => runs),
    writes: [...named("files"), ...(isInPlace ? files : [])],
    reads: named("sources"),
  };
}

/** `-i` may be followed by a suffix, whose letters are not options. */
function inPlace(word: Word): Word {
  const [, letters] = /^(-[a-zA-Z]*i)./.exec(word.value) ?? [];
  return letters === undefined || letters.includes("e") ? word : { ...word, value: letters };
}

/** Finds whether a sed script runs commands, which files it writes, and which it reads. */
function sedScript(script: string): { runs: boolean; files: string[]; sources: string[] } {
  const found = { runs: false, files: [] as string[], sources: [] as string[] };
  let at = 0;
  const until = (stops: RegExp): string => {
    const from = at;
    while (at < script.length && !stops.test(script[at] ?? "")) at++;
    return script.slice(from, at);
  };
  const part = (delimiter: string): void => {
    for (let isClass = false; at < script.length; at++) {
      const character = script[at];
      if (character === "\\") at++;
      else if (character === "[") isClass = true;
      else if (character === "]") isClass = false;
      else if (character === delimiter && !isClass) break;
    }
    at++;
  };
  while (at < script.length) {
    const character = script[at++] ?? "";
    if (character === "/") part("/");
    else if (character === "\\") part(script[at++] ?? "");
    else if (character === "s" || character === "y") {
      const delimiter = script[at++] ?? "";
      part(delimiter);
      part(delimiter);
      const flags = character === "s" ? until(/[;}\nw]/) : "";
      if (flags.includes("e")) found.runs = true;
    } else if (character === "e") {
      found.runs = true;
      until(/\n/);
    } else if (character === "w" || character === "W") found.files.push(until(/\n/).trim());
    else if (character === "r" || character === "R") found.sources.push(until(/\n/).trim());
    else if ("aic".includes(character)) until(/\n/);
    else if (":btT".includes(character)) until(/[;}\n]/);
  }
  return found;
}
