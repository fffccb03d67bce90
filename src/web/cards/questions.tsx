import { useSignal } from "@preact/signals";
import type { Question } from "../../judging/kinds.ts";
import type { JsonObject } from "../../schema/values.ts";
import { Visible, visibleText } from "../text/visible.tsx";

type Props = { questions: Question[]; input: JsonObject; onAnswer?: ((input: JsonObject) => void) | undefined };

/** Questions of a child with their options; the answers go back as the input that its tool runs with. */
export function Questions({ questions, input, onAnswer }: Props) {
  const chosen = useSignal<Record<string, string[]>>({});
  const written = useSignal<Record<string, string>>({});
  const answerTo = ({ question }: Question) =>
    written.value[question]?.trim() || (chosen.value[question] ?? []).join(", ");
  const isComplete = questions.every((question) => answerTo(question) !== "");
  const choose = ({ question, multiSelect }: Question, label: string) => {
    const now = chosen.value[question] ?? [];
    const many = now.includes(label) ? now.filter((one) => one !== label) : [...now, label];
    chosen.value = { ...chosen.value, [question]: multiSelect ? many : [label] };
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const answers = Object.fromEntries(questions.map((question) => [question.question, answerTo(question)]));
    onAnswer?.({ ...input, answers });
  };
  return (
    <form class="questions" onSubmit={submit}>
      {questions.map((question, at) => (
        <fieldset>
          <legend>
            {question.header && <span class="badge">{visibleText(question.header)}</span>}{" "}
            <Visible text={question.question} />
          </legend>
          {question.options.map((option) => (
            <label class="choice">
              <input
                type={question.multiSelect ? "checkbox" : "radio"}
                name={`question-${at}`}
                disabled={!onAnswer}
                checked={(chosen.value[question.question] ?? []).includes(option.label)}
                onChange={() => choose(question, option.label)}
              />
              <span>
                <b>
                  <Visible text={option.label} />
                </b>
                <small>
                  <Visible text={option.description} />
                </small>
              </span>
            </label>
          ))}
          {onAnswer && (
            <input
              type="text"
              class="other"
              placeholder="Another answer"
              aria-label={`Another answer to: ${visibleText(question.question)}`}
              value={written.value[question.question] ?? ""}
              onInput={({ currentTarget }) =>
                (written.value = { ...written.value, [question.question]: currentTarget.value })
              }
            />
          )}
        </fieldset>
      ))}
      {onAnswer && (
        <button type="submit" class="button primary" disabled={!isComplete}>
          Answer
        </button>
      )}
    </form>
  );
}
