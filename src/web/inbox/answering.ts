import type { Approval } from "../../contract/approvals/approval.ts";
import type { JsonObject } from "../../contract/values.ts";
import { answered, type Choices, choose, hasChoices, NO_CHOICES, nextOpen, write } from "../../review/choices.ts";
import { kindOf, type Question } from "../../review/kinds.ts";
import { callersOwn } from "../wire/callers-own.ts";
import { checked, isPending, selected } from "./asks.ts";
import { examined } from "./examined.ts";

/** What was chosen for each question that still waits. */
const choicesOf = callersOwn<ReadonlyMap<string, Choices>>(new Map());

export type OpenQuestion = { approval: Approval; questions: Question[]; choices: Choices };

/** The question that is looked at, once all of it is read and for as long as it waits; none while several are selected. */
export function openQuestion(): OpenQuestion | undefined {
  const ask = selected.value;
  if (!ask || ask.outcome !== undefined || checked.value.length > 0) return undefined;
  const approval = examined.value.get(ask.approval.id)?.approval ?? ask.approval;
  const kind = kindOf(approval);
  if (kind.kind !== "questions" || (approval.truncated && !examined.value.has(approval.id))) return undefined;
  return { approval, questions: kind.questions, choices: choicesOf.value.get(approval.id) ?? NO_CHOICES };
}

/** Chooses an option of one question, or of the one that the keys are about. */
export function chooseOption({ approval, questions, choices }: OpenQuestion, option: number, at = choices.at): void {
  keep(approval.id, choose(questions, choices, at, option));
}

export function writeAnswer({ approval, choices }: OpenQuestion, at: number, text: string): void {
  keep(approval.id, write(choices, at, text));
}

/** The input that answers it; with an answer missing, the keys are about that question then. */
export function answerOf({ approval, questions, choices }: OpenQuestion): JsonObject | undefined {
  const input = answered(approval.input, questions, choices);
  if (input === undefined) keep(approval.id, nextOpen(questions, choices));
  return input;
}

export function isAnswered({ approval, questions, choices }: OpenQuestion): boolean {
  return answered(approval.input, questions, choices) !== undefined;
}

/** Whether a call would throw away what somebody has chosen. */
export function hasAnswers(question: OpenQuestion | undefined): boolean {
  return question !== undefined && hasChoices(question.choices);
}

function keep(id: string, choices: Choices): void {
  const waiting = [...choicesOf.peek()].filter(([other]) => isPending(other));
  choicesOf.value = new Map(waiting).set(id, choices);
}
