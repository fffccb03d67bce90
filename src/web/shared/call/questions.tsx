import type { Choices } from "../../../review/choices.ts";
import type { Question } from "../../../review/kinds.ts";
import { Visible, visibleText } from "../elements/visible.tsx";

/** How to answer the questions; absent once they can't be answered. */
export type Answering = {
  choices: Choices;
  choose: (at: number, option: number) => void;
  write: (at: number, text: string) => void;
  send: () => void;
};

/** The id of the form, for the button outside of it. */
export const QUESTIONS_FORM = "questions";

type Props = { questions: Question[]; answering: Answering | undefined };

/** The questions of a child with their options. Digits choose options of the current question. */
export function Questions({ questions, answering }: Props) {
  const submit = (event: Event) => {
    event.preventDefault();
    answering?.send();
  };
  return (
    <form class="questions" id={QUESTIONS_FORM} onSubmit={submit}>
      {questions.map((question, at) => (
        <fieldset class={answering?.choices.at === at ? "current" : ""}>
          <legend>
            {question.header && <span class="badge">{visibleText(question.header)}</span>}{" "}
            <Visible text={question.question} />
          </legend>
          {question.options.map((option, number) => (
            <label class="choice">
              <input
                type={question.multiSelect ? "checkbox" : "radio"}
                name={`question-${at}`}
                disabled={!answering}
                checked={answering?.choices.chosen[at]?.includes(number) ?? false}
                onChange={() => answering?.choose(at, number)}
              />
              <span>
                <b>
                  <Visible text={option.label} />
                </b>
                <small>
                  <Visible text={option.description} />
                </small>
              </span>
              {answering?.choices.at === at && number < 9 && <kbd>{number + 1}</kbd>}
            </label>
          ))}
          {answering && (
            <input
              type="text"
              class="other"
              placeholder="Another answer"
              aria-label={`Another answer to: ${visibleText(question.question)}`}
              value={answering.choices.written[at] ?? ""}
              onInput={({ currentTarget }) => answering.write(at, currentTarget.value)}
            />
          )}
        </fieldset>
      ))}
    </form>
  );
}
