import { awkProgram } from "../../programs/awk-program.ts";
import type { ProgramCall } from "../../programs/programs.ts";
import { sedArguments } from "../../programs/sed-script.ts";
import { readArguments, type Valued, valuesOf } from "../../syntax/options.ts";
import type { Finding, Rule } from "../rule.ts";
import { gitRuns } from "./git-runs.ts";

/** Options whose value is a command; a value that matches `usual` is a normal program for the option. */
type Runs = Valued & { usual?: RegExp };

const COMPRESSORS = /^(gzip|pigz|bzip2|pbzip2|xz|pxz|zstd|lz4|lzip|lzop|brotli)( -[\w=]+)*$/;
const RUNS: Record<string, Runs> = {
  tar: {
    short: "IF",
    long: [
      "use-compress-program",
      "to-command",
      "checkpoint-action",
      "rsh-command",
      "rmt-command",
      "info-script",
      "new-volume-script",
    ],
    usual: new RegExp(`${COMPRESSORS.source}|^(dot|bell|totals|echo|ttyout|sleep|wait)\\b`),
  },
  sort: { long: ["compress-program"], usual: COMPRESSORS },
  split: { long: ["filter"] },
  rg: { long: ["pre", "hostname-bin"] },
  rsync: { short: "e", long: ["rsh", "rsync-path"], usual: /^(ssh( -p \d+)?|rsync)$/ },
  scp: { short: "S" },
  sftp: { short: "S" },
  tcpdump: { short: "z" },
  man: { short: "PH", long: ["pager", "html"], usual: /^(cat|less)$/ },
  make: { long: ["eval"] },
  gmake: { long: ["eval"] },
  fzf: { long: ["preview", "bind"] },
  wget: { short: "e", long: ["use-askpass", "execute"] },
  curl: { short: "K", long: ["config"] },
  nc: { short: "ec" },
  ncat: { short: "ec", long: ["exec", "sh-exec", "lua-exec"] },
  npm: { long: ["script-shell", "node-options", "userconfig", "globalconfig", "editor"] },
  zip: { long: ["unzip-command"] },
  cmake: { short: "P" },
  "ld.so": { long: ["preload", "audit", "library-path"] },
  "dbus-run-session": { long: ["dbus-daemon", "config-file"] },
};
/** Letters of options whose value is not a command. */
const OTHER_VALUES: Record<string, string> = {
  tar: "fCTX",
  curl: "oHdAu",
  wget: "OP",
  cmake: "DUBSCGTAWL",
};
/** Flags whose names are also abbreviations of longer ones. */
const FLAGS: Record<string, string> = { npm: "--global" };
const COMPILERS = /^([\w-]+-)?(gcc|g\+\+|cc|c\+\+|clang(\+\+)?)(-[\d.]+)?$/;
const COMPILER_RUNS = /^(-wrapper$|-fplugin=|--?specs=)/;
const EDITORS = /^(n?vim?|vimdiff|view|ex)$/;
const SSH_RUNS = /^(ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand|Match|Include|PKCS11Provider)\b/i;

/** Makes a program run another one, through an option or the program's own language. */
export const indirect: Rule = { rule: "indirect", test: findIndirect };

function findIndirect(command: ProgramCall): Finding {
  const { program, args } = command;
  const runs = Object.hasOwn(RUNS, program) ? RUNS[program] : undefined;
  if (runs) {
    const option = commandOption(command, runs);
    if (option) return `runs another program (${program} ${option})`;
  }
  if (program === "git") return gitRuns(command);
  if (/^g?sed$/.test(program) && sedArguments(command).runs) return `runs commands from its script (${program})`;
  if (/^[gmn]?awk$/.test(program) && awkProgram(command).runs) return `runs commands from its program (${program})`;
  if (/^(ssh|scp|sftp)$/.test(program)) return sshOption(command);
  if (program === "socat" && args.some(({ value }) => /^(exec|system|shell):/i.test(value)))
    return "runs another program (socat)";
  if (/^g?make$/.test(program) && args.some(({ value }) => /^\.?SHELL(FLAGS)?[:+?]*=/.test(value)))
    return "runs another shell (make SHELL=)";
  if (EDITORS.test(program) && args.some(({ value }) => /^(-c|-s|--cmd|\+[^\d])/.test(value)))
    return `runs editor commands (${program})`;
  if (program === "less" && args.some(({ value }) => /^\+\+?!/.test(value))) return "runs another program (less +!)";
  if (program === "zip" && args.some(({ value }) => /^-\w*TT/.test(value))) return "runs another program (zip -TT)";
  if (program === "run-parts" && !args.some(({ value }) => /^--(test|list)$/.test(value)))
    return "runs every program in a directory (run-parts)";
  const plugin = COMPILERS.test(program) ? args.find(({ value }) => COMPILER_RUNS.test(value)) : undefined;
  if (plugin) return `runs another program (${program} ${plugin.value})`;
  return undefined;
}

function commandOption({ program, args }: ProgramCall, { short = "", long = [], usual }: Runs): string | undefined {
  // tar's first argument may be a bundle of letters without a dash.
  const bundled = program === "tar" && /^[a-zA-Z]+$/.test(args[0]?.value ?? "");
  const [first, ...rest] = args;
  const words = bundled && first ? [{ ...first, value: `-${first.value}` }, ...rest] : args;
  const others = words.filter(({ value }) => value !== FLAGS[program]);
  const { options } = readArguments(others, { short: short + (OTHER_VALUES[program] ?? ""), long });
  for (const name of [...short].map((letter) => `-${letter}`).concat(long.map((one) => `--${one}`))) {
    const found = valuesOf(options, name).find((value) => value.isDynamic || !usual?.test(value.value));
    if (found) return name;
  }
  return undefined;
}

function sshOption({ program, args }: ProgramCall): Finding {
  const { options } = readArguments(args, { short: "BbcDEeFIiJLlmOopQRSWwPX" }, program === "ssh");
  const runs = valuesOf(options, "-o").find(({ value }) => SSH_RUNS.test(value));
  if (runs) return `runs another program (${program} -o ${/^\w+/.exec(runs.value)?.[0] ?? ""})`;
  const config = valuesOf(options, "-F")[0];
  return config && config.value !== "/dev/null" && config.value !== "none"
    ? `uses a configuration that may run programs (${program} -F)`
    : undefined;
}
