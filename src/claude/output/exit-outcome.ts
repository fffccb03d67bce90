import { LIMIT_ERRORS } from "../../contract/sessions/limit-error.ts";
import { cutText } from "../../contract/text/cut-text.ts";
import type { InitFact, ResultFact } from "./facts.ts";

export type ExitOutcome = { outcome: "complete" } | { outcome: "failed"; message: string };

/** The end of a child. */
type ChildExit = {
  /** `undefined` if none was written: the shell around the CLI was killed. */
  exitCode: number | undefined;
  result: ResultFact | undefined;
  init: InitFact | undefined;
  stderrTail: string;
};

const MAX_REASON_CHARS = 4_000;
const MAX_STDERR_CHARS = 2_000;

/** Complete only if exit code, result and error flag all say so: the CLI reports an API error as "success". */
export function exitOutcome(exit: ChildExit): ExitOutcome {
  const { exitCode, result, stderrTail } = exit;
  if (exitCode === 0 && result?.subtype === "success" && !result.is_error) return { outcome: "complete" };
  const stderr = stderrTail.trim();
  const parts = [reason(exit), hint(exit), stderr && `stderr: ${tail(stderr)}`];
  return { outcome: "failed", message: parts.filter(Boolean).join("\n") };
}

function reason({ exitCode, result, init }: ChildExit): string {
  if (result?.subtype === "error_max_turns") return LIMIT_ERRORS.max_turns;
  if (result?.subtype === "error_max_budget_usd") return LIMIT_ERRORS.max_budget_usd;
  const reported = [result?.is_error ? result.text : "", ...(result?.errors ?? [])].filter(Boolean).join("\n");
  if (result && reported) return `Claude Code reported an error: ${cutText(reported, MAX_REASON_CHARS)}`;
  if (result && result.subtype !== "success") return `Claude Code ended with ${result.subtype}.`;
  const how = exitCode === undefined ? "without an exit code" : `with exit code ${exitCode}${signalOf(exitCode)}`;
  if (result) return `Claude Code ended ${how} after it had reported its result.`;
  return `Claude Code ended ${how}, ${init ? "in the middle of its work" : "before it had begun"}.`;
}

function hint({ exitCode, result, init, stderrTail }: ChildExit): string {
  const output = `${result?.text ?? ""}\n${result?.errors.join("\n") ?? ""}\n${stderrTail}`;
  if (result?.subtype === "error_max_turns")
    return "Send another prompt to continue, or give the session a larger max_turns.";
  if (result?.subtype === "error_max_budget_usd") return "Raise max_budget_usd, then send another prompt to continue.";
  if (init?.plexusStatus !== undefined && init.plexusStatus !== "connected") {
    return `It could not reach Plexus to ask for permission (${init.plexusStatus}).`;
  }
  if (/MCP tool .*not found|permission.prompt.tool/i.test(output)) {
    return "It could not reach Plexus to ask for permission.";
  }
  if (/not logged in|\/login|invalid api key|authentication_error|\b401\b/i.test(output)) {
    return "It has no valid login: run `claude` and log in, or set ANTHROPIC_API_KEY for the server.";
  }
  if (/no conversation found/i.test(output)) {
    return "Its conversation is gone from this machine, or belongs to another working directory: create a new session.";
  }
  if (exitCode === undefined) return "It was killed, or its machine or container was restarted.";
  return "";
}

function signalOf(exitCode: number): string {
  const names: Record<number, string> = {
    129: "SIGHUP",
    130: "SIGINT",
    137: "SIGKILL",
    139: "SIGSEGV",
    143: "SIGTERM",
  };
  return names[exitCode] ? ` (${names[exitCode]})` : "";
}

function tail(text: string): string {
  return text.length <= MAX_STDERR_CHARS ? text : `…${text.slice(-MAX_STDERR_CHARS)}`;
}
