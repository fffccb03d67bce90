import { awkProgram } from "../programs/awk-program.ts";
import { gitTargets } from "../programs/git-arguments.ts";
import type { ProgramCall } from "../programs/programs.ts";
import { sedArguments } from "../programs/sed-script.ts";
import { readArguments, type Valued, valuesOf } from "../syntax/options.ts";
import type { Word } from "../syntax/parsed-command.ts";
import { runsLater } from "./later-files.ts";

type Changes = (command: ProgramCall) => Word[];

const all =
  (valued: Valued = {}, skip = 0): Changes =>
  ({ args }) =>
    readArguments(args, valued).operands.slice(skip);
/** `chmod MODE FILES`, but `chmod --reference=FILE FILES`. */
const allAfterMode: Changes = ({ args }) => {
  const { options, operands } = readArguments(args);
  return valuesOf(options, "--reference").length > 0 ? operands : operands.slice(1);
};
const COPY = { short: "tSmog", long: ["target-directory", "suffix", "mode", "owner", "group"] };
const RSYNC = { short: "e", long: ["include", "filter", "files-from", "exclude-from"] };

/** For each program, the paths that it creates, changes or removes. */
const CHANGES: Record<string, Changes> = {
  rm: all(),
  rmdir: all(),
  unlink: all(),
  shred: all(),
  mv: (command) => [...copied(command, COPY), ...all(COPY)(command)],
  tee: all(),
  sponge: all(),
  ed: all(),
  openssl: ({ args }) => args.filter((_, at) => args[at - 1]?.value === "-out"),
  touch: all({ short: "r", long: ["reference"] }),
  mkdir: all(),
  mkfifo: all(),
  truncate: all({ short: "r", long: ["reference"] }),
  chmod: allAfterMode,
  chown: allAfterMode,
  chgrp: allAfterMode,
  cp: (command) => copied(command, COPY),
  install: (command) => copied(command, COPY),
  // A file can be changed through a link to it.
  ln: (command) => [...copied(command, COPY), ...all(COPY)(command)],
  rsync: (command) => copied(command, RSYNC),
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

/** The paths that a command would create, change or remove, as far as its words show. */
export function changedPaths(command: ProgramCall): Word[] {
  const written = command.redirects.flatMap(({ writes, target }) => (writes && target ? [target] : []));
  return [...written, ...(CHANGES[own(command.program)] ?? outputs)(command)];
}

/** The output files of any other program: `-o FILE`, `--output=FILE` and the like. */
function outputs({ program, args }: ProgramCall): Word[] {
  const long = ["outfile", "output-file", "out-file"];
  const { options } = readArguments(args, { short: OTHER_O.test(program) ? "" : "o", long });
  return options.flatMap(({ name, value }) =>
    value && /^(-o|--out(put|file|-file|put-file)?)$/.test(name) ? [value] : [],
  );
}

/** The target (the last operand or `-t`), and the files in it that run later. */
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
