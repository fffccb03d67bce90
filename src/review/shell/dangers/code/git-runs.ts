import { gitArguments } from "../../programs/git-arguments.ts";
import type { ProgramCall } from "../../programs/programs.ts";
import { isNamed, readArguments, valuesOf } from "../../syntax/options.ts";
import type { Finding } from "../rule.ts";

/** Settings of git that name a program, or include settings that do. */
const RUNNING_KEYS =
  /^(core\.(sshcommand|gitproxy|hookspath|fsmonitor|editor|pager|askpass|alternaterefscommand|worktree)|alias\..+|credential(\..+)?\.helper|diff\.(external|.+\.(command|textconv))|filter\..+\.(clean|smudge|process)|merge\..+\.driver|(diff|merge)tool\..+\.cmd|gpg(\..+)?\.program|sequence\.editor|pager\..+|include(if\..+)?\.path|url\..+\.(insteadof|pushinsteadof)|remote\..+\.(uploadpack|receivepack|vcs|proxy)|uploadpack\.packobjectshook|protocol\..*allow|init\.templatedir|submodule\..+\.update|http\.(proxy|sslverify)|browser\..+\.cmd|man\..+\.cmd|sendemail\..+|tar\..+\.command|interactive\.difffilter)$/i;
const HARMLESS_VALUES = /^(cat|less|true|:|vi|vim|nano|)$/;

/** Options after the verb whose value is a command. */
const VERB_OPTIONS: Record<string, { short?: string; long: string[] }> = {
  clone: { short: "u", long: ["upload-pack", "template"] },
  fetch: { long: ["upload-pack"] },
  pull: { long: ["upload-pack"] },
  push: { long: ["receive-pack", "exec"] },
  "send-pack": { long: ["receive-pack", "exec"] },
  "fetch-pack": { long: ["upload-pack", "exec"] },
  "ls-remote": { long: ["upload-pack", "exec"] },
  archive: { long: ["exec"] },
  rebase: { short: "x", long: ["exec"] },
  grep: { short: "O", long: ["open-files-in-pager"] },
  difftool: { short: "x", long: ["extcmd"] },
  init: { long: ["template"] },
};

/** Finds arguments that make git run a program that is not part of git. */
export function gitRuns(command: ProgramCall): Finding {
  const { before, verb, rest } = gitArguments(command);
  const clone = verb === "clone" ? readArguments(rest, { short: "cbou", long: ["config"] }).options : [];
  const set = [...valuesOf(before.options, "-c", "--config-env"), ...valuesOf(clone, "-c", "--config")];
  const setting = set.find(({ value }) => isRunning(value));
  if (setting) return `makes git run another program (-c ${setting.value.split("=")[0]})`;
  if (valuesOf(before.options, "--exec-path").length > 0) return "makes git run another program (--exec-path)";
  if (rest.some(({ value }) => /^(ext|fd)::/.test(value))) return `makes git run another program (${verb} ext::)`;
  if (/^remote-(ext|fd)$/.test(verb)) return `makes git run another program (${verb})`;
  const words = rest.map(({ value }) => value);
  if (verb === "bisect" && words[0] === "run") return "makes git run another program (bisect run)";
  if (verb === "submodule" && words.includes("foreach")) return "makes git run another program (submodule foreach)";
  const valued = Object.hasOwn(VERB_OPTIONS, verb) ? VERB_OPTIONS[verb] : undefined;
  if (!valued) return undefined;
  const names = [...[...(valued.short ?? "")].map((letter) => `-${letter}`), ...valued.long.map((name) => `--${name}`)];
  const option = readArguments(rest, valued).options.find((one) => isNamed(one, ...names));
  return option && `makes git run another program (${verb} ${option.name})`;
}

/** Whether a setting, `key=value`, makes git run a program. */
export function isRunning(setting: string): boolean {
  const equals = setting.indexOf("=");
  const key = equals < 0 ? setting : setting.slice(0, equals);
  const value = equals < 0 ? undefined : setting.slice(equals + 1);
  const isShown = /^(core\.(editor|pager)|pager\..+|sequence\.editor)$/i.test(key);
  return RUNNING_KEYS.test(key) && !(isShown && HARMLESS_VALUES.test(value ?? "?"));
}
