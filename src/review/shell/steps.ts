import type { ParsedCommand, Redirect, SimpleCommand } from "./syntax/parsed-command.ts";

/** One program that a command runs, as people read it. */
type Step = {
  /** The variables that are set for it. */
  before: string;
  program: string;
  rest: string;
  isSubstituted: boolean;
};

/** Lists the programs that a command runs, in the order of the text. */
export function stepsOf({ commands }: ParsedCommand): Step[] {
  return commands.flatMap((command) => {
    const [program, ...rest] = command.words;
    if (!program) return [];
    const texts = [...rest.map(({ text }) => text), ...command.redirects.map(redirectText)];
    return [
      {
        before: command.assignments.map(assignmentText).join(""),
        program: program.text,
        rest: texts.map((text) => ` ${text}`).join(""),
        isSubstituted: command.isSubstituted,
      },
    ];
  });
}

function assignmentText({ name, value }: SimpleCommand["assignments"][number]): string {
  return `${name}=${value?.text ?? "(…)"} `;
}

/** A here-document is only its sign: its text stands in the whole command. */
function redirectText({ descriptor, operator, duplicates, target }: Redirect): string {
  return `${descriptor}${operator}${duplicates}${target ? ` ${target.text}` : ""}`;
}
