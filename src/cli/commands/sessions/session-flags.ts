import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { SessionDetail } from "../../../contract/sessions/session-view.ts";
import { SUPERVISION_MEANING, Supervision } from "../../../contract/sessions/supervision.ts";
import { CommandFailed } from "../../terminal/terminal.ts";

export type SessionFlags = {
  dir?: string;
  model?: string;
  systemPrompt?: string;
  supervision?: Supervision;
  allowedTools?: string[];
  disallowedTools?: string[];
  addDir?: string[];
  maxTurns?: number;
  approvalTimeoutSecs?: number;
};

/** What a session can be made with, in the words of the API. */
type Settings = Partial<
  Pick<
    SessionDetail,
    | "working_dir"
    | "model"
    | "system_prompt"
    | "supervision"
    | "allowed_tools"
    | "disallowed_tools"
    | "add_dirs"
    | "max_turns"
    | "loopback_timeout_secs"
  >
>;

const FLAGS: Record<keyof Settings, string> = {
  working_dir: "--dir",
  model: "--model",
  system_prompt: "--system-prompt",
  supervision: "--supervision",
  allowed_tools: "--allowed-tools",
  disallowed_tools: "--disallowed-tools",
  add_dirs: "--add-dir",
  max_turns: "--max-turns",
  loopback_timeout_secs: "--approval-timeout-secs",
};

/** Adds the flags with which a session is made. */
export function withSessionFlags(command: Command): Command {
  return command
    .option("--dir <DIR>", "where the child works (the current directory)")
    .option("--model <MODEL>", "the model, as Claude Code names it")
    .option("--system-prompt <TEXT>", "added to Claude Code's own system prompt")
    .addOption(supervisionOption())
    .option(
      "--allowed-tools <RULE>",
      "calls that need no approval, but not in strict; may be given several times",
      collected,
    )
    .option("--disallowed-tools <RULE>", "a tool that never runs; may be given several times", collected)
    .option("--add-dir <DIR>", "a further directory to work in; may be given several times", collected)
    .option("--max-turns <N>", "how many model turns one prompt may take", wholeNumber)
    .option("--approval-timeout-secs <N>", "how long a request waits before it is denied", wholeNumber);
}

/** Says what each choice means, and which one holds unless another is made. */
export function supervisionOption(): Option {
  const meanings = Supervision.options.map((level) => `${level}: ${SUPERVISION_MEANING[level]}`);
  return new Option("--supervision <LEVEL>", `${meanings.join("; ")} (default: "default")`).choices(
    Supervision.options,
  );
}

/** What was asked for, and nothing else. */
export function settingsOf(flags: SessionFlags): Settings {
  return {
    ...(flags.dir !== undefined && { working_dir: realPath(flags.dir) }),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.systemPrompt !== undefined && { system_prompt: flags.systemPrompt }),
    ...(flags.supervision !== undefined && { supervision: flags.supervision }),
    ...(flags.allowedTools !== undefined && { allowed_tools: flags.allowedTools }),
    ...(flags.disallowedTools !== undefined && { disallowed_tools: flags.disallowedTools }),
    ...(flags.addDir !== undefined && { add_dirs: flags.addDir.map(realPath) }),
    ...(flags.maxTurns !== undefined && { max_turns: flags.maxTurns }),
    ...(flags.approvalTimeoutSecs !== undefined && { loopback_timeout_secs: flags.approvalTimeoutSecs }),
  };
}

/** A session is used as it is: what was asked for must not differ from it. */
export function refuseDifferent(session: SessionDetail, asked: Settings): void {
  for (const [setting, flag] of entries(FLAGS)) {
    if (asked[setting] === undefined || Bun.deepEquals(asked[setting], session[setting])) continue;
    const has = session[setting] === undefined || session[setting] === null ? "none" : JSON.stringify(session[setting]);
    throw new CommandFailed(
      `Session "${session.name}" exists, and its ${flag} is ${has}: leave that flag out, or choose another name.`,
    );
  }
}

/** By what it really is, as the server sees it. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function collected(value: string, before: string[] = []): string[] {
  return [...before, value];
}

export function wholeNumber(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number.");
}

function entries<K extends string, V>(record: Record<K, V>): [K, V][] {
  return Object.entries(record) as [K, V][];
}
