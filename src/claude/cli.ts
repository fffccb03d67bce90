import { statSync } from "node:fs";
import { AppError } from "../contract/errors.ts";
import { claudeVersion } from "./cli-version.ts";
import { findClaude } from "./find.ts";

export type UsableClaude = { path: string; version: string };
/** The CLI as it was found; a problem says what to do about it. */
export type FoundClaude = UsableClaude | { path: string | undefined; problem: string };
export type ClaudeCli = ReturnType<typeof createClaudeCli>;

type Where = {
  claude?: string | undefined;
  path: string;
  home: string;
  /** Whoever asks for the version may stop waiting for it. */
  signal?: AbortSignal;
};

/** The Claude Code CLI of this machine; its version is asked for once, and again when the file has changed. */
export function createClaudeCli(where: Where) {
  let known: { file: string; found: Promise<FoundClaude> } | undefined;

  async function look(): Promise<FoundClaude> {
    const path = findClaude(where);
    if (!path) return { path, problem: `${notFound(where.claude)}: install Claude Code, or name it with --claude.` };
    const { ino, mtimeMs, size } = statSync(path);
    const file = [path, ino, mtimeMs, size].join();
    if (known?.file === file) return known.found;
    const asked = {
      file,
      found: claudeVersion(path, { signal: where.signal }).then((answer) => ({ path, ...answer })),
    };
    known = asked;
    const found = await asked.found;
    // It may be a machine that was too busy to answer: not the last word.
    if ("problem" in found && known === asked) known = undefined;
    return found;
  }

  return {
    look,
    /** The CLI, where turns can be started with it. */
    async require(): Promise<UsableClaude> {
      const found = await look();
      if ("problem" in found) throw new AppError("claude_unavailable", found.problem);
      return found;
    },
  };
}

function notFound(told: string | undefined): string {
  return told ? `${told} is not an executable file` : "claude was not found on PATH or in the usual places";
}
