import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../support/temporary.ts";

const BASH = Bun.which("bash") ?? "bash";
const SH = Bun.which("sh") ?? "sh";

/** The commands that a command line ran, each with its words, and the files that it wrote. */
export type Ran = { commands: string[][]; written: string[] };

/**
 * A bash in which no program does anything: it only records the words of each program or builtin. Paths can't be
 * replaced, so only paths to nothing may be tried, and an attempt counts as a run.
 */
export async function openRecordedBash(programs: readonly string[]) {
  const directory = await temporaryDirectory();
  const at = (name: string) => join(directory.path, name);
  const log = at("log");
  for (const name of ["bin", "log", "work", "work/out", "work/src"]) mkdirSync(at(name));
  // One file for each run, because several may run in parallel.
  const record = `for word in "\${0##*/}" "$@"; do printf '%s\\0' "$word"; done >'${log}'/$$`;
  for (const name of programs) {
    writeFileSync(at(`bin/${name}`), `#!${SH}\n${record}\n`);
    chmodSync(at(`bin/${name}`), 0o755);
  }
  // All builtins except those that the preamble needs.
  const builtins =
    ". : [ alias bg bind break builtin caller command compgen complete continue declare dirs disown echo " +
    "eval exec export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read " +
    "readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait";
  const preamble = `command_not_found_handle() { /proc/self/exe -c '${record.replaceAll("'", "'\\''")}' "$@"; }; `;

  return {
    workingDir: at("work"),
    run(command: string): Ran {
      for (const name of ["log", "work/out", "work/src"].flatMap((parent) =>
        readdirSync(at(parent)).map((one) => `${parent}/${one}`),
      ))
        rmSync(at(name), { recursive: true });
      const before = new Map(filesIn(at("work")).map((path) => [path, changedAt(path)]));
      const script = `${preamble}enable -n ${builtins} enable; ${command}`;
      const { stderr, exitedDueToTimeout } = Bun.spawnSync([BASH, "--norc", "-c", script], {
        cwd: at("work"),
        env: { PATH: at("bin"), HOME: at("home") },
        stdin: "ignore",
        timeout: 10_000,
      });
      if (exitedDueToTimeout) throw new Error(`${command} does not end`);
      const missing = /\/\S+: No such file or directory/.exec(stderr.toString())?.[0];
      const written = filesIn(at("work")).filter((path) => before.get(path) !== changedAt(path));
      return {
        commands: [...recorded(log), ...(missing === undefined ? [] : [[missing]])],
        written,
      };
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

function recorded(log: string): string[][] {
  return filesIn(log).map((path) => readFileSync(path, "utf8").split("\0").slice(0, -1));
}

function changedAt(path: string): bigint {
  return statSync(path, { bigint: true }).mtimeNs;
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}
