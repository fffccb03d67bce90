import type { SimpleCommand, Word } from "../syntax/parsed-command.ts";

/** A command with the name of its program, and its arguments apart. */
export type Subject = SimpleCommand & { program: string; args: Word[] };

const SHELLS = new Set(["sh", "bash", "rbash", "zsh", "dash", "ksh", "mksh", "ash", "fish"]);
const INTERPRETERS =
  /^(python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|tsx|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|rscript|osascript|pwsh|powershell|tclsh|expect|elixir|julia|groovy)$/;

export function subjectOf(command: SimpleCommand): Subject {
  return { ...command, program: programOf(command), args: command.words.slice(1) };
}

/** The program that loads others, as each system names it. */
const DYNAMIC_LOADER = /^ld(64|-[\w-]+)?\.so(\.\d+)?$/;

/** The last part of a program's path, in lower case: some file systems don't tell `RM` from `rm`. */
export function programOf({ words }: Pick<SimpleCommand, "words">): string {
  const path = words[0]?.value ?? "";
  const name = path
    .slice(path.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/\.exe$/, "");
  return DYNAMIC_LOADER.test(name) ? "ld.so" : name;
}

export function isShell(program: string): boolean {
  return SHELLS.has(program);
}

export function isInterpreter(program: string): boolean {
  return INTERPRETERS.test(program);
}

/** The same command with other words, as one program hands them to another. */
export function handedOn(command: SimpleCommand, words: Word[]): SimpleCommand {
  return { ...command, words, assignments: [], redirects: [] };
}

/** Whether it runs a file in the shell itself. */
export function isSource(program: string): boolean {
  return program === "source" || program === ".";
}
