import { type ParsedCommand, parseCommand, type SimpleCommand } from "../syntax/parsed-command.ts";
import { type ProgramCall, programCall } from "./programs.ts";
import { scriptsOf } from "./scripts.ts";
import { startedBy } from "./wrappers.ts";

const MAX_DEPTH = 8;

/** A command and every command that it starts, with the problems in parsing them. */
type Unwrapped = Facts & { commands: ProgramCall[] };
type Facts = Pick<ParsedCommand, "functions" | "variables" | "evaluations" | "problems">;

/** Finds the commands that a command makes programs and shells run, up to a limit. */
export function unwrapped(command: SimpleCommand, limit: number): Unwrapped {
  const found: Unwrapped = { commands: [], functions: [], variables: [], evaluations: [], problems: [] };
  const waiting = [{ command, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const call = programCall(next.command);
    found.commands.push(call);
    if (found.commands.length >= limit) {
      found.problems.push("runs too many commands to check them all");
      break;
    }
    const inner = innerOf(call, found);
    if (inner.length > 0 && next.depth >= MAX_DEPTH) {
      found.problems.push("runs commands within commands, nested too deeply to check");
      continue;
    }
    const depth = next.depth + 1;
    for (const one of inner.reverse()) waiting.push({ command: one, depth });
  }
  return found;
}

function innerOf(call: ProgramCall, found: Unwrapped): SimpleCommand[] {
  const inner = startedBy(call);
  for (const script of scriptsOf(call)) {
    const parsed = parseCommand(script.value);
    addFacts(found, parsed);
    for (const command of parsed.commands) inner.push(command);
  }
  return inner;
}

/** Adds facts one by one: there may be more than a function call can have arguments. */
export function addFacts(facts: Facts, more: Facts): void {
  for (const key of ["functions", "variables", "evaluations", "problems"] as const) {
    for (const fact of more[key]) facts[key].push(fact);
  }
}
