import type { SimpleCommand, Word } from "../syntax/parsed-command.ts";

/** A command split into the name of its program and its arguments. */
export type ProgramCall = SimpleCommand & { program: string; args: Word[] };

const SHELLS = new Set(["sh", "bash", "rbash", "zsh", "dash", "ksh", "mksh", "ash", "fish"]);
const INTERPRETERS =
  /^(python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|tsx|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|rscript|osascript|pwsh|powershell|tclsh|expect|elixir|julia|groovy)$/;

export function programCall(command: SimpleCommand): ProgramCall {
  return { ...command, program: programOf(command), args: command.words.slice(1) };
}

/** The dynamic loader's name on each system. */
const DYNAMIC_LOADER = /^ld(64|-[\w-]+)?\.so(\.\d+)?$/;

/** Returns the last part of a program's path, in lower case, because some file systems treat `RM` and `rm` as one. */
function programOf({ words }: Pick<SimpleCommand, "words">): string {
  const path = words[0]?.value ?? "";
  const name = path
    .slice(path.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat)$/, "");
  return DYNAMIC_LOADER.test(name) ? "ld.so" : name;
}

export function isShell(program: string): boolean {
  return SHELLS.has(program);
}

export function isInterpreter(program: string): boolean {
  return INTERPRETERS.test(program);
}

/** Returns the command with the words that one program passes to another. */
export function withWords(command: SimpleCommand, words: Word[]): SimpleCommand {
  return { ...command, words, assignments: [], redirects: [] };
}

/** Whether the program runs a file in the current shell. */
export function isSource(program: string): boolean {
  return program === "source" || program === ".";
}
