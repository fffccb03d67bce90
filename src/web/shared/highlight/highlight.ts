import { useCallback } from "preact/hooks";
import { lazyValue } from "../lazy.tsx";

/** A run of code in one color. `name` is its class; empty for plain text. */
export type Run = { text: string; name: string };

/** Highlights code; `undefined` if the language is unknown. */
export type Highlight = (language: string, code: string) => Run[] | undefined;

/** Longer code stays plain: highlighting it would block the page. */
const MAX_CHARS = 20_000;

const useGrammars = lazyValue(async () => (await import("./grammars.ts")).highlight);

/** Highlights code once the grammars are loaded. They are fetched only if a language is given. */
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

/** The language of a file by its path. An unknown extension is returned as it is. */
export function languageOf(path: string): string {
  const name = path.split("/").at(-1)?.toLowerCase() ?? "";
  const extension = name.includes(".") ? (name.split(".").at(-1) ?? "") : "";
  return BY_FILE_NAME[name] ?? BY_EXTENSION[extension] ?? extension;
}

/** Splits the runs into lines. */
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
