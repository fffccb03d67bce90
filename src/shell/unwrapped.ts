import { type Subject, subjectOf } from "./programs.ts";
import { type Reading, readCommand, type SimpleCommand } from "./reading.ts";
import { scriptsOf } from "./scripts.ts";
import { startedBy } from "./wrappers.ts";

const MAX_DEPTH = 8;

/** A command and every other one that it starts, with what could not be read of them. */
export type Unwrapped = Pick<Reading, "functions" | "variables" | "evaluations" | "problems"> & { commands: Subject[] };

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
    waiting.push(...inner.map((one) => ({ command: one, depth })).reverse());
  }
  return found;
}

function innerOf(subject: Subject, found: Unwrapped): SimpleCommand[] {
  const inner = startedBy(subject);
  for (const script of scriptsOf(subject)) {
    const reading = readCommand(script.value);
    found.problems.push(...reading.problems);
    found.evaluations.push(...reading.evaluations);
    found.functions.push(...reading.functions);
    found.variables.push(...reading.variables);
    inner.push(...reading.commands);
  }
  return inner;
}
