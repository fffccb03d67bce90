import { type Reading, readCommand, type SimpleCommand } from "../syntax/parsed-command.ts";
import { type Subject, subjectOf } from "./programs.ts";
import { scriptsOf } from "./scripts.ts";
import { startedBy } from "./wrappers.ts";

const MAX_DEPTH = 8;

/** A command and every other one that it starts, with what could not be read of them. */
export type Unwrapped = Facts & { commands: Subject[] };
type Facts = Pick<Reading, "functions" | "variables" | "evaluations" | "problems">;

/** Takes apart what a command has other programs and shells run, up to so many commands. */
export function unwrapped(command: SimpleCommand, limit: number): Unwrapped {
  const found: Unwrapped = { commands: [], functions: [], variables: [], evaluations: [], problems: [] };
  const waiting = [{ command, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const subject = subjectOf(next.command);
    found.commands.push(subject);
    if (found.commands.length >= limit) {
      found.problems.push("runs too many commands to look at all of them");
      break;
    }
    const inner = innerOf(subject, found);
    if (inner.length > 0 && next.depth >= MAX_DEPTH) {
      found.problems.push("runs commands within commands, too deep to take apart");
      continue;
    }
    const depth = next.depth + 1;
    for (const one of inner.reverse()) waiting.push({ command: one, depth });
  }
  return found;
}

function innerOf(subject: Subject, found: Unwrapped): SimpleCommand[] {
  const inner = startedBy(subject);
  for (const script of scriptsOf(subject)) {
    const reading = readCommand(script.value);
    addFacts(found, reading);
    for (const command of reading.commands) inner.push(command);
  }
  return inner;
}

/** Adds what was read elsewhere; one by one, since there may be more of it than a call takes arguments. */
export function addFacts(facts: Facts, more: Facts): void {
  for (const key of ["functions", "variables", "evaluations", "problems"] as const) {
    for (const fact of more[key]) facts[key].push(fact);
  }
}
