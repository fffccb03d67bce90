import type { ApprovalContext } from "../../../contract/approvals/approval-context.ts";
import { linksIn } from "../../../review/real-paths.ts";
import { type ParsedCommand, parseCommand, partsOf } from "../../../review/shell/index.ts";
import { LongText } from "../elements/long-text.tsx";
import { Scrollable } from "../elements/scrollable.tsx";
import { Visible } from "../elements/visible.tsx";

const MAX_PAINTED = 6_000;

/** A command of a shell, its parts told apart. */
export function CommandText({ command, context }: { command: string; context: ApprovalContext | undefined }) {
  const parsed = parseCommand(command);
  if (parsed.tree === undefined || command.length > MAX_PAINTED) return <LongText text={command} label="Command" />;
  const count = parsed.commands.filter(({ words }) => words.length > 0).length;
  const steps = stepsOf(parsed);
  return (
    <>
      <Scrollable class="code-scroll" label="Command">
        <pre class="code command">
          {partsOf(parsed, context?.working_dir ?? null, linksIn(context)).map(({ text, role, isOutside }) => (
            <span
              class={isOutside ? `${role} outside` : role}
              title={isOutside ? "outside of the working directory" : ""}
            >
              <Visible text={text} />
            </span>
          ))}
        </pre>
      </Scrollable>
      {steps.length > 1 && (
        <ol class="steps" aria-label="What it runs, one by one">
          {steps.map(({ program, rest, isSubstituted }) => (
            <li class={isSubstituted ? "substituted" : ""}>
              <code>
                <b>
                  <Visible text={program} />
                </b>
                <Visible text={rest} />
              </code>
            </li>
          ))}
          {count > steps.length && <li class="more">and {count - steps.length} more, in the command above</li>}
        </ol>
      )}
    </>
  );
}

const MAX_STEPS = 24;

/** Of a here-document its sign alone: the words stand above. */
function redirectText({ operator, target }: ParsedCommand["commands"][number]["redirects"][number]): string {
  return ` ${operator}${target ? ` ${target.text}` : ""}`;
}

function stepsOf({ commands }: ParsedCommand) {
  return commands
    .filter(({ words }) => words.length > 0)
    .slice(0, MAX_STEPS)
    .map(({ words: [program, ...rest], redirects, isSubstituted }) => ({
      program: program?.text ?? "",
      rest: [...rest.map(({ text }) => ` ${text}`), ...redirects.map(redirectText)].join(""),
      isSubstituted,
    }));
}
