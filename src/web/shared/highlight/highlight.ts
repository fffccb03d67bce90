import { useCallback } from "preact/hooks";
import { lazyValue } from "../lazy.tsx";

/** A stretch of code of one colour; `name` is a class, empty for plain text. */
export type Run = { text: string; name: string };

/** `undefined` where the language is not known. */
export type Highlight = (language: string, code: string) => Run[] | undefined;

/** Longer code stays plain: a grammar may take its time, and the page must not. */
const MAX_CHARS = 20_000;

const useGrammars = lazyValue(async () => (await import("./grammars.ts")).highlight);

/** Colours for code, once the grammars have come; they are fetched only where a language is named. */
export function useHighlight(language: string): (code: string) => Run[] {
  const highlight = useGrammars(language !== "");
  return useCallback(
    (code) => {
      const isColoured = language !== "" && code.length <= MAX_CHARS;
      return (isColoured ? highlight?.(language, code) : undefined) ?? [{ text: code, name: "" }];
    },
    [highlight, language],
  );
}

const BY_FILE_NAME: Record<string, string> = { dockerfile: "dockerfile", makefile: "makefile" };
const BY_EXTENSION: Record<string, string> = {
  ipynb: "json",
  htm: "html",
  cjs: "js",
  cts: "ts",
  mts: "ts",
  svg: "xml",
  vue: "html",
  zsh: "bash",
};

/** What a path says of the language of its file; the extension is a name that the grammars know, or is none. */
export function languageOf(path: string): string {
  const name = path.split("/").at(-1)?.toLowerCase() ?? "";
  const extension = name.includes(".") ? (name.split(".").at(-1) ?? "") : "";
  return BY_FILE_NAME[name] ?? BY_EXTENSION[extension] ?? extension;
}

/** The same runs, line by line. */
export function runsByLine(runs: Run[]): Run[][] {
  const lines: Run[][] = [[]];
  for (const { text, name } of runs) {
    for (const [at, piece] of text.split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (piece !== "") lines.at(-1)?.push({ text: piece, name });
    }
  }
  return lines;
}
