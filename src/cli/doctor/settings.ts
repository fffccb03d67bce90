import { type BypassingSetting, bypassingSettings, UNREADABLE } from "../../claude/settings/bypassing-settings.ts";
import type { Config } from "../../config.ts";
import type { Finding } from "./finding.ts";

const SEALED =
  "Children of Plexus and what `plexus configure` starts leave it out; a claude started otherwise, and sessions of supervision inherit, do not. Remove it, or start those with the command of `plexus configure`.";

/**
 * Settings that do no harm in managed settings: an ask rule of ours outranks any allow, and an unreadable file may
 * contain nothing.
 */
const NO_FAILURE = ["permissions.allow", "sandbox.autoAllowBashIfSandboxed", UNREADABLE];

/** Checks whether settings of this machine's Claude Code would disable Plexus, or decide before it. */
export function lookAtSettings({ home, environment }: Config, workingDir: string): Finding {
  const found = bypassingSettings({ home, env: environment, workingDir });
  const managed = found.filter(({ origin, setting }) => origin === "managed" && !NO_FAILURE.includes(setting));
  const step = "settings";
  if (managed.length > 0) {
    const remedy = "No other setting lifts it: ask whoever administers this machine to remove it.";
    return { step, state: "failed", says: textOf(managed), remedy };
  }
  if (found.length > 0) return { step, state: "warning", says: textOf(found), remedy: SEALED };
  return { step, state: "ok", says: "nothing in Claude Code's settings silences Plexus or decides before it" };
}

function textOf(found: BypassingSetting[]): string {
  return found.map(({ file, setting, effect }) => `${setting} in ${file}: ${effect}`).join("; ");
}
