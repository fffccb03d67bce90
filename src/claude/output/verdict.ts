import { cutText } from "../../contract/cut.ts";
import type { InitFact, ResultFact } from "./facts.ts";

export type Verdict = { outcome: "complete" } | { outcome: "failed"; message: string };

/** What is known of a child that has ended; `exitCode` is `undefined` when nothing has noted one. */
export type Ending = {
  exitCode: number | undefined;
  result: ResultFact | undefined;
  init: InitFact | undefined;
  stderrTail: string;
};

const MAX_REASON_CHARS = 4_000;
const MAX_STDERR_CHARS = 2_000;

/** Complete only when exit code, result and its error flag all say so: an API error comes as a "success". */
export function judge(ending: Ending): Verdict {
  const { exitCode, result, stderrTail } = ending;
  if (exitCode === 0 && result?.subtype === "success" && !result.is_error) return { outcome: "complete" };
  const stderr = stderrTail.trim();
  const parts = [reason(ending), hint(ending), stderr && `stderr: ${tail(stderr)}`];
  return { outcome: "failed", message: parts.filter(Boolean).join("\n") };
}

function reason({ exitCode, result, init }: Ending): string {
  if (result?.subtype === "error_max_turns") return "Claude Code stopped at the greatest number of turns.";
  if (result?.subtype === "error_max_budget_usd") return "Claude Code stopped at its budget.";
  const told = [result?.is_error ? result.text : "", ...(result?.errors ?? [])].filter(Boolean).join("\n");
  if (result && told) return `Claude Code reported an error: ${cutText(told, MAX_REASON_CHARS)}`;
  if (result && result.subtype !== "success") return `Claude Code ended with ${result.subtype}.`;
  const how = exitCode === undefined ? "without an exit code" : `with exit code ${exitCode}${signalOf(exitCode)}`;
  if (result) return `Claude Code ended ${how} after it had reported its result.`;
  return `Claude Code ended ${how}, ${init ? "in the middle of its work" : "before it had begun"}.`;
}

function hint({ exitCode, result, init, stderrTail }: Ending): string {
  const said = `${result?.text ?? ""}\n${result?.errors.join("\n") ?? ""}\n${stderrTail}`;
  if (result?.subtype === "error_max_turns")
    return "Continue with a further prompt, or give the session more max_turns.";
  if (init?.plexusStatus !== undefined && init.plexusStatus !== "connected") {
    return `It could not reach Plexus to ask for permission (${init.plexusStatus}).`;
  }
  if (/MCP tool .*not found|permission.prompt.tool/i.test(said)) {
    return "It could not reach Plexus to ask for permission.";
  }
  if (/not logged in|\/login|invalid api key|authentication_error|\b401\b/i.test(said)) {
    return "It has no valid login: run `claude` and log in, or set ANTHROPIC_API_KEY for the server.";
  }
  if (/no conversation found/i.test(said)) {
    return "Its conversation is gone from this machine, or belongs to another working directory: create a new session.";
  }
  if (exitCode === undefined) return "It was killed, or the machine or the container that it ran in was restarted.";
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
