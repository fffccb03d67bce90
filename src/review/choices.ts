import type { JsonObject } from "../contract/values.ts";
import type { Question } from "./kinds.ts";

/** The options chosen and texts written so far, by question, and the question that the keys apply to. */
export type Choices = { at: number; chosen: number[][]; written: string[] };

export const NO_CHOICES: Choices = { at: 0, chosen: [], written: [] };

/** Chooses an option, or unchooses it if several may be chosen; after a single choice the next open question is current. */
export function choose(questions: Question[], choices: Choices, at: number, option: number): Choices {
  const question = questions[at];
  if (question?.options[option] === undefined) return choices;
  const now = choices.chosen[at] ?? [];
  if (!question.multiSelect) return nextOpen(questions, { ...choices, at, chosen: set(choices.chosen, at, [option]) });
  const several = now.includes(option) ? now.filter((one) => one !== option) : [...now, option].sort((a, b) => a - b);
  return { ...choices, at, chosen: set(choices.chosen, at, several) };
}

/** Sets an answer in one's own words, which takes precedence over chosen options. */
export function write(choices: Choices, at: number, text: string): Choices {
  return { ...choices, at, written: set(choices.written, at, text) };
}

/** Makes the next question without an answer current, if there is one. */
export function nextOpen(questions: Question[], choices: Choices): Choices {
  const open = questions.flatMap((question, at) => (answerTo(question, choices, at) === "" ? [at] : []));
  return { ...choices, at: open.find((at) => at > choices.at) ?? open[0] ?? choices.at };
}

export function answerTo({ options }: Question, { chosen, written }: Choices, at: number): string {
  return written[at]?.trim() || (chosen[at] ?? []).flatMap((option) => options[option]?.label ?? []).join(", ");
}

/** The input that answers the questions; `undefined` while an answer is missing. */
export function answered(input: JsonObject, questions: Question[], choices: Choices): JsonObject | undefined {
  const answers = questions.map((question, at) => [question.question, answerTo(question, choices, at)] as const);
  return answers.some(([, answer]) => answer === "") ? undefined : answeredInput(input, answers);
}

/** The input of AskUserQuestion as the CLI takes it with answers, by the text of each question. */
export function answeredInput(input: JsonObject, answers: (readonly [question: string, answer: string])[]): JsonObject {
  return { ...input, answers: Object.fromEntries(answers) };
}

export function hasChoices({ chosen, written }: Choices): boolean {
  return chosen.some((options) => options.length > 0) || written.some((text) => text.trim() !== "");
}

/** Unanswered questions before it stay holes in the array, which `some` skips. */
function set<T>(values: T[], at: number, value: T): T[] {
  const next = values.slice();
  next[at] = value;
  return next;
}
