import { statSync } from "node:fs";
import { AppError } from "../contract/refusals/errors.ts";
import { claudeVersion } from "./cli-version.ts";
import { findClaude } from "./find.ts";

export type UsableClaude = { path: string; version: string };
/** The CLI that was found; a problem says what to do about it. */
export type FoundClaude = UsableClaude | { path: string | undefined; problem: string };

type Where = {
  claude?: string | undefined;
  path: string;
  home: string;
  /** Stops waiting for the version. */
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
    const lookup = {
      file,
      found: claudeVersion(path, { signal: where.signal }).then((answer) => ({ path, ...answer })),
    };
    known = lookup;
    const found = await lookup.found;
    // The machine may only have been too busy to answer: the next call tries again.
    if ("problem" in found && known === lookup) known = undefined;
    return found;
  }

  return {
    look,
    /** The CLI, if it can run turns; otherwise throws what to do about it. */
    async require(): Promise<UsableClaude> {
      const found = await look();
      if ("problem" in found) throw new AppError("claude_unavailable", found.problem);
      return found;
    },
  };
}

function notFound(configured: string | undefined): string {
  return configured ? `${configured} is not an executable file` : "claude was not found on PATH or in the usual places";
}
