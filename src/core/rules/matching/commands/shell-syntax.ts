import { parseCommand } from "../../../../review/shell/index.ts";
import { literalCommands } from "../../literal-command.ts";

/**
 * The first part of a command that is not a literal word, such as `$X`, `~` or `*.txt`; `undefined` if no single part
 * is at fault.
 */
export function shellSyntaxIn(source: string): string | undefined {
  const { commands } = parseCommand(source);
  for (const { assignments, words, redirects } of commands) {
    const [assignment] = assignments;
    if (assignment) return `${assignment.name}=${assignment.value?.text ?? ""}`;
    const word = words.find(({ text }, at) => !isLiteral(at === 0 ? text : `x ${text}`));
    if (word) return word.text;
    const redirect = redirects.find(({ operator, target }) => target && !isLiteral(`x ${operator} ${target.text}`));
    if (redirect) return `${redirect.descriptor}${redirect.operator} ${redirect.target?.text ?? ""}`;
  }
  return undefined;
}

function isLiteral(text: string): boolean {
  return literalCommands(text, { mayWrite: true }) !== undefined;
}
