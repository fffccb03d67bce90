import type { ApprovalContext } from "../../../contract/approvals/approval-context.ts";
import { linksIn } from "../../../review/real-paths.ts";
import { parseCommand, partsOf, stepsOf } from "../../../review/shell/index.ts";
import { LongText } from "../elements/long-text.tsx";
import { Scrollable } from "../elements/scrollable.tsx";
import { Visible } from "../elements/visible.tsx";

const MAX_PAINTED = 6_000;

/** A shell command with its parts highlighted. */
export function CommandText({ command, context }: { command: string; context: ApprovalContext | undefined }) {
  const parsed = parseCommand(command);
  if (parsed.tree === undefined || command.length > MAX_PAINTED) return <LongText text={command} label="Command" />;
  const all = stepsOf(parsed);
  const steps = all.slice(0, MAX_STEPS);
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
          {steps.map(({ before, program, rest, isSubstituted }) => (
            <li class={isSubstituted ? "substituted" : ""}>
              <code>
                <Visible text={before} />
                <b>
                  <Visible text={program} />
                </b>
                <Visible text={rest} />
              </code>
            </li>
          ))}
          {all.length > steps.length && (
            <li class="more">and {all.length - steps.length} more, in the command above</li>
          )}
        </ol>
      )}
    </>
  );
}

const MAX_STEPS = 24;
