import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");

/** The mutated sources: the matcher, and the code between it and the parser. */
const SOURCES = [
  "src/core/rules/matching/**/*.ts",
  "src/core/rules/literal-command.ts",
  "src/review/shell/syntax/**/*.ts",
  "src/review/shell/programs/**/*.ts",
];
/** It only colours text for people. */
const LEFT_OUT = ["src/review/shell/syntax/parts.ts"];

type Position = { line: number; column: number };
/** One change at one place; positions count from zero. */
export type Mutant = {
  id: string;
  fileName: string;
  mutatorName: string;
  replacement: string;
  location: { start: Position; end: Position };
};
/** The sources, each containing all its mutants, of which at most one is active. */
export type Instrumented = { files: Record<string, string>; mutants: Mutant[] };

type File = { name: string; mutate: boolean; content: string };
type Options = { plugins: null; ignorers: never[]; excludedMutations: string[]; noHeader: boolean };
/** The part of StrykerJS's instrumenter that is used here. */
export type Instrumenter = {
  Instrumenter: new (
    logger: Record<string, () => boolean>,
  ) => { instrument(files: File[], options: Options): Promise<{ files: File[]; mutants: Mutant[] }> };
};

const QUIET = {
  ...Object.fromEntries(["trace", "debug", "info", "warn", "error", "fatal"].map((name) => [name, () => false])),
  isDebugEnabled: () => false,
};

/** Instruments the sources whose paths begin with one of these. */
export async function instrumented({ Instrumenter }: Instrumenter, only: readonly string[]): Promise<Instrumented> {
  const names = SOURCES.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })])
    .filter((name) => !LEFT_OUT.includes(name))
    .filter((name) => only.length === 0 || only.some((start) => name.startsWith(start)))
    .toSorted();
  const files = names.map((name) => {
    const path = join(ROOT, name);
    return { name: path, mutate: true, content: readFileSync(path, "utf8") };
  });
  const options = { plugins: null, ignorers: [], excludedMutations: [], noHeader: false };
  const done = await new Instrumenter(QUIET).instrument(files, options);
  return {
    files: Object.fromEntries(done.files.map(({ name, content }) => [name, content])),
    mutants: done.mutants,
  };
}

/** Describes a mutant's place and change for people. */
export function described({ fileName, location, mutatorName, replacement }: Mutant): string {
  const path = join(fileName).slice(ROOT.length + 1);
  const { start, end } = location;
  const lines = readFileSync(join(ROOT, path), "utf8").split("\n");
  const line = lines[start.line] ?? "";
  const was = end.line === start.line ? line.slice(start.column, end.column) : `${line.slice(start.column)} …`;
  return `${path}:${start.line + 1} ${mutatorName}: ${cut(was)} → ${cut(replacement)}`;
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 90 ? `${line.slice(0, 90)}…` : line;
}
