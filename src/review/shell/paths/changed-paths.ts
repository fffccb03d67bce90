import { awkProgram } from "../programs/awk-program.ts";
import { gitTargets } from "../programs/git-arguments.ts";
import type { ProgramCall } from "../programs/programs.ts";
import { sedArguments } from "../programs/sed-script.ts";
import { isNamed, readArguments, type Valued, valuesOf } from "../syntax/options.ts";
import type { Word } from "../syntax/parsed-command.ts";
import { runsLater } from "./later-files.ts";

/**
 * The effect on a path. "content": the file's content changes, through any link. "name": only the name changes, so a
 * link with this name is not followed. "destination": something gets this name, or a name in this directory. The
 * others: a link to the path is created.
 */
type Effect = "content" | "name" | "destination" | "symbolic link" | "hard link";
/** A path that a command changes or links to. */
export type ChangedPath = Word & { effect: Effect };

type Words = (command: ProgramCall) => Word[];
type Changes = (command: ProgramCall) => (Word & Partial<ChangedPath>)[];

const all =
  (valued: Valued = {}): Words =>
  ({ args }) =>
    readArguments(args, valued).operands;
/** Programs that create, move or remove names, without following links. */
const names =
  (words: Words): Changes =>
  (command) =>
    affected(words(command), "name");
/** Programs that put something at a path, or into a directory. */
const destinations =
  (words: Words): Changes =>
  (command) =>
    affected(words(command), "destination");
/** `chmod MODE FILES`, but `chmod --reference=FILE FILES`. */
const allAfterMode: Words = ({ args }) => {
  const { options, operands } = readArguments(args);
  return valuesOf(options, "--reference").length > 0 ? operands : operands.slice(1);
};
const COPY = { short: "tSmog", long: ["target-directory", "suffix", "mode", "owner", "group"] };
const RSYNC = { short: "e", long: ["include", "filter", "files-from", "exclude-from"] };

/** For each program, the paths that it creates, changes or removes. */
const CHANGES: Record<string, Changes> = {
  rm: names(all()),
  rmdir: names(all()),
  unlink: names(all()),
  shred: all(),
  mv: (command) => [...affected(copied(command, COPY), "destination"), ...affected(all(COPY)(command), "name")],
  tee: all(),
  sponge: all(),
  ed: all(),
  openssl: ({ args }) => args.filter((_, at) => args[at - 1]?.value === "-out"),
  touch: all({ short: "r", long: ["reference"] }),
  mkdir: names(all()),
  mkfifo: names(all()),
  truncate: all({ short: "r", long: ["reference"] }),
  chmod: allAfterMode,
  chown: allAfterMode,
  chgrp: allAfterMode,
  cp: (command) => [...copied(command, COPY), ...linked(command, copyEffect(command))],
  install: destinations((command) => copied(command, COPY)),
  ln: (command) => [
    ...affected([...copied(command, COPY), ...linkedHere(command)], "destination"),
    ...linked(command, linkEffect(command)),
  ],
  rsync: destinations((command) => copied(command, RSYNC)),
  scp: (command) => copied(command, {}),
  sed: (command) => sedArguments(command).writes,
  gsed: (command) => sedArguments(command).writes,
  perl: perlInPlace,
  awk: (command) => awkProgram(command).writes,
  gawk: (command) => awkProgram(command).writes,
  mawk: (command) => awkProgram(command).writes,
  dd: ({ args }) => args.flatMap((word) => (word.value.startsWith("of=") ? [cut(word, 3)] : [])),
  find: writtenByFind,
  curl: ({ args }) => valuesOf(readArguments(args, CURL).options, ...CURL_FILES),
  wget: ({ args }) =>
    valuesOf(
      readArguments(args, WGET).options,
      "-O",
      "--output-document",
      "-P",
      "--directory-prefix",
      "-o",
      "--output-file",
    ),
  tar: ({ args }) => unpacked(args, ["-C", "--directory"]),
  unzip: ({ args }) => valuesOf(readArguments(args, { short: "dxP" }).options, "-d"),
  git: gitTargets,
  patch: ({ args }) => readArguments(args, { short: "ip" }).operands.slice(0, 1),
};
const CURL_FILES = ["-o", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar"];
const CURL = { short: "odFTHXuAebcDKw", long: ["output-dir", "dump-header", "cookie-jar"] };
const WGET = { short: "OPo", long: ["output-document", "directory-prefix", "output-file"] };

/** Programs whose `-o` does not name a file to write. */
const OTHER_O = /^([efz]?grep|rg|ls|ps|pgrep|ssh|sftp|mount|set|shopt|test|\[|pytest|ip|lsof|apt|kubectl|jq)$/;

/** Returns the paths that a command would create, change, remove or link to, as far as its words show. */
export function changedPaths(command: ProgramCall): ChangedPath[] {
  const written = command.redirects.flatMap(({ writes, target }) => (writes && target ? [target] : []));
  const changed: ReturnType<Changes> = [...written, ...(CHANGES[own(command.program)] ?? outputs)(command)];
  return changed.map((path) => ({ ...path, effect: path.effect ?? "content" }));
}

function affected(words: Word[], effect: Effect): ChangedPath[] {
  return words.map((word) => ({ ...word, effect }));
}

/** Returns the output files of any other program: `-o FILE`, `--output=FILE` and the like. */
function outputs({ program, args }: ProgramCall): Word[] {
  const long = ["outfile", "output-file", "out-file"];
  const { options } = readArguments(args, { short: OTHER_O.test(program) ? "" : "o", long });
  return options.flatMap(({ name, value }) =>
    value && /^(-o|--out(put|file|-file|put-file)?)$/.test(name) ? [value] : [],
  );
}

/** Returns the target (the last operand or `-t`), and the copied files that run later. */
function copied({ args }: ProgramCall, valued: Valued): Word[] {
  const { options, operands } = readArguments(args, valued);
  const [into] = valuesOf(options, "-t", "--target-directory");
  const target = into ?? (operands.length > 1 ? operands.at(-1) : undefined);
  const sources = into ? operands : operands.slice(0, -1);
  if (!target) return [];
  const name = target.value.split("/").at(-1) ?? "";
  // In `cp .envrc .envrc.old` the target is a file, not a directory; a device is not a directory either.
  if (!into && (/[^.]\./.test(name) || target.value.startsWith("/dev/"))) return [target];
  const names = sources.map(({ value }) => value.slice(value.lastIndexOf("/") + 1)).filter(runsLater);
  return [target, ...names.map((file) => ({ ...target, value: `${target.value}/${file}` }))];
}

/** `ln FILE` creates a link of the same name in the current directory. */
function linkedHere({ args }: ProgramCall): Word[] {
  const { options, operands } = readArguments(args, COPY);
  const [file] = operands;
  if (!file || operands.length > 1 || valuesOf(options, "-t", "--target-directory").length > 0) return [];
  return [{ ...file, value: file.value.replace(/\/+$/, "").split("/").at(-1) ?? "" }];
}

function linkEffect({ args }: ProgramCall): Effect {
  return has(args, "-s", "--symbolic") ? "symbolic link" : "hard link";
}

/** `cp` copies, unless an option makes it create links. */
function copyEffect({ args }: ProgramCall): Effect | undefined {
  if (has(args, "-s", "--symbolic-link")) return "symbolic link";
  return has(args, "-l", "--link") ? "hard link" : undefined;
}

/** Returns the files that a link is created to. */
function linked({ args }: ProgramCall, effect: Effect | undefined): ChangedPath[] {
  if (effect === undefined) return [];
  const { options, operands } = readArguments(args, COPY);
  const [into] = valuesOf(options, "-t", "--target-directory");
  const link = into ?? (operands.length > 1 ? operands.at(-1) : undefined);
  const files = into || !link ? operands : operands.slice(0, -1);
  if (effect === "hard link" || !link || has(args, "-r", "--relative")) return affected(files, effect);
  const isDirectory = into !== undefined || files.length > 1;
  const directory = isDirectory ? `${link.value}/` : link.value.slice(0, link.value.lastIndexOf("/") + 1);
  return affected(
    files.map((file) => below(directory, file, link)),
    effect,
  );
}

/** A symbolic link's target is relative to the link's directory. */
function below(directory: string, file: Word, link: Word): Word {
  if (/^[/~$]/.test(file.value)) return file;
  return { ...file, value: `${directory}${file.value}`, isDynamic: file.isDynamic || link.isDynamic };
}

function has(args: Word[], ...names: string[]): boolean {
  return readArguments(args, COPY).options.some((option) => isNamed(option, ...names));
}

function perlInPlace({ args }: ProgramCall): Word[] {
  const { options, operands } = readArguments(args, { short: "eE" });
  if (!options.some(({ name }) => name === "-i")) return [];
  return valuesOf(options, "-e", "-E").length > 0 ? operands : operands.slice(1);
}

function writtenByFind({ args }: ProgramCall): Word[] {
  const files = args.flatMap(({ value }, at) => (/^-f(printf?|print0|ls)$/.test(value) ? (args[at + 1] ?? []) : []));
  const isDeleting = args.some(({ value }) => value === "-delete");
  const from = args.findIndex(({ value }) => value.startsWith("-"));
  return [...files, ...(isDeleting ? args.slice(0, Math.max(0, from)) : [])];
}

function unpacked(args: Word[], names: string[]): Word[] {
  const { options } = readArguments(args, { short: "CfITX", long: ["directory", "file"] });
  const isReading = options.some(({ name }) => name === "-t" || name === "-x");
  return valuesOf(options, ...names, ...(isReading ? [] : ["-f", "--file"]));
}

function cut(word: Word, from: number): Word {
  return { ...word, value: word.value.slice(from) };
}

function own(program: string): string {
  return Object.hasOwn(CHANGES, program) ? program : "";
}
