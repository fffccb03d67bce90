import { type Answers, problemOfInput } from "../contract/approvals/decision.ts";
import type { JsonObject } from "../contract/values.ts";
import { answeredInput } from "./choices.ts";
import { kindOf, type Question } from "./kinds.ts";

const MAX_NAMED = 10;
const MAX_NAME_CHARS = 80;
const DENY = "deny it with a message that says what you want";

/** The input that a call will run with, or why it can't, in words that follow the given argument. */
export type Edited = { kind: "input"; input: JsonObject } | { kind: "invalid"; reason: string };

type Call = { tool_name: string; input: JsonObject };

/**
 * Applies an edited input. It must have every key of the original, so that none is lost by mistake, unless it is merged
 * into the original. A key with the value `null` is removed.
 */
export function applyEdit(original: JsonObject, given: JsonObject, merge: boolean): Edited {
  const missing = merge ? [] : Object.keys(original).filter((key) => !Object.hasOwn(given, key));
  if (missing.length > 0) {
    const advice = "give every key of the original (null takes one out), or merge: true with what changes";
    return { kind: "invalid", reason: `lacks ${named(missing)}: ${advice}` };
  }
  const whole = merge ? { ...original, ...given } : given;
  const isTakenOut = (key: string) => Object.hasOwn(given, key) && given[key] === null;
  return checked(Object.fromEntries(Object.entries(whole).filter(([key]) => !isTakenOut(key))));
}

/**
 * Returns the input of AskUserQuestion with an answer to each question: an option's label, or several if the question
 * permits it.
 */
export function applyAnswers(call: Call, answers: Answers): Edited {
  const invalid = (reason: string): Edited => ({ kind: "invalid", reason });
  const kind = kindOf(call);
  if (kind.kind !== "questions") return invalid(`go with AskUserQuestion only: this is ${named([call.tool_name])}`);
  const { questions } = kind;
  const given = Object.entries(answers).map(([question, labels]) => ({ question, labels: [labels].flat() }));
  if (given.length === 0) return invalid(`must not be empty: the questions are ${named(textsOf(questions))}`);
  for (const { question, labels } of given) {
    const asked = questions.find((one) => one.question === question);
    if (!asked) return invalid(`has no question ${named([question])}: the questions are ${named(textsOf(questions))}`);
    const problem = problemOf(asked, labels);
    if (problem !== undefined) return invalid(`to ${named([question])} ${problem}`);
  }
  const open = textsOf(questions).filter((question) => !Object.hasOwn(answers, question));
  if (open.length > 0)
    return invalid(`leaves out ${named(open)}: answer every question, or ${DENY} (updated_input may answer a part)`);
  const texts = given.map(({ question, labels }) => [question, [...new Set(labels)].join(", ")] as const);
  return checked(answeredInput(call.input, texts));
}

function problemOf({ options, multiSelect }: Question, labels: string[]): string | undefined {
  const known = options.map(({ label }) => label);
  if (labels.length > known.length) return `can't be more than there are options: ${named(known)}`;
  const isKnown = new Set(known);
  const unknown = labels.filter((label) => !isKnown.has(label));
  if (unknown.length > 0)
    return `can't be ${named(unknown)}: the options are ${named(known)}; for another answer ${DENY}`;
  if (labels.length === 0) return `need one of ${named(known)}`;
  return labels.length > 1 && !multiSelect ? "can be one option only" : undefined;
}

function checked(input: JsonObject): Edited {
  const problem = problemOfInput(input);
  return problem === undefined ? { kind: "input", input } : { kind: "invalid", reason: problem };
}

function textsOf(questions: Question[]): string[] {
  return questions.map(({ question }) => question);
}

/** Lists names that a child chose, quoted and shortened. */
function named(names: string[]): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => JSON.stringify(shortened(name)));
  return shown.join(", ") + (names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "");
}

/** Shortens without splitting a surrogate pair. */
function shortened(name: string): string {
  const characters = Array.from(name.slice(0, 2 * MAX_NAME_CHARS));
  return characters.length > MAX_NAME_CHARS || name.length > 2 * MAX_NAME_CHARS
    ? `${characters.slice(0, MAX_NAME_CHARS).join("")}…`
    : name;
}
