import type { SimpleCommand, Word } from "./reading.ts";
import { programOf } from "./wrappers.ts";

/** Programs that change every path they are given. */
const CHANGE_ALL = [
  "rm",
  "rmdir",
  "unlink",
  "shred",
  "mv",
  "tee",
  "touch",
  "mkdir",
  "truncate",
  "chmod",
  "chown",
  "chgrp",
];
/** Programs that change the last path they are given. */
const CHANGE_LAST = ["cp", "install", "ln", "rsync", "scp"];

/** What a command would create, change or remove, as far as its words tell. */
export function changedPaths(command: SimpleCommand): Word[] {
  const written = command.redirects.flatMap(({ writes, target }) => (writes && target ? [target] : []));
  return [...written, ...changedArguments(command)];
}

function changedArguments(command: SimpleCommand): Word[] {
  const program = programOf(command);
  const rest = command.words.slice(1);
  const plain = rest.filter(({ value }) => !value.startsWith("-"));
  if (CHANGE_ALL.includes(program)) return program.startsWith("ch") ? plain.slice(1) : plain;
  if (CHANGE_LAST.includes(program)) return plain.slice(-1);
  if (program === "sed" || program === "perl") {
    const isInPlace = rest.some(({ value }) => /^(-[a-zA-Z]*i|--in-place)/.test(value));
    return isInPlace ? plain.slice(1) : [];
  }
  if (program === "dd") return rest.filter(({ value }) => value.startsWith("of="));
  if (program === "find" && rest.some(({ value }) => value === "-delete")) return plain.slice(0, 1);
  if (program === "curl" || program === "wget") return valuesOf(rest, ["-o", "-O", "--output", "--output-document"]);
  return [];
}

function valuesOf(words: Word[], options: string[]): Word[] {
  return words.flatMap(({ value }, at) => (options.includes(value) ? (words[at + 1] ?? []) : []));
}
