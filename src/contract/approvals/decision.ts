import { z } from "zod";
import { problemsIn } from "../arguments/problems.ts";
import { type AppError, ErrorResult, errorResult } from "../refusals/errors.ts";
import type { Door } from "../refusals/ways.ts";
import { Remember, Rule, RuleNote } from "../rules/rule.ts";
import { Consumer, Id, isJsonObject, JsonObject, MAX_MESSAGE_CHARS, optional, UnixSeconds } from "../values.ts";
import { ApprovalStatus, Danger, WaitInput } from "./approval.ts";

/**
 * The CLI always accepts answers of up to 50,000 characters; longer ones only if its model API counts few enough
 * tokens.
 */
export const MAX_UPDATED_INPUT_CHARS = 49_000;
/** How many decisions one call may carry. */
export const MAX_DECISIONS = 100;

/** The chosen labels, by question. Not `z.record`, which drops a question named `__proto__`. */
export const Answers = z
  .custom<Record<string, string | string[]>>(isAnswers, "must be {question: label, or [labels]}")
  .meta({ type: "object", additionalProperties: true });
export type Answers = z.infer<typeof Answers>;

const decision = {
  approve: optional(z.boolean()).describe("true allows this one call, false denies it; answers alone allow it."),
  message: optional(z.string().max(MAX_MESSAGE_CHARS)).describe(
    "With a denial: why, and what to do instead, for the child. With interrupt: the turn's error.",
  ),
  updated_input: optional(JsonObject).describe(
    "With an approval: run this instead. It has every key of the original, or goes with merge.",
  ),
  merge: optional(z.boolean()).describe("Lay updated_input over the original."),
  answers: optional(Answers).describe("Answers AskUserQuestion: {question: label, or [labels]}."),
  interrupt: optional(z.boolean()).describe("With a denial: also end the turn."),
  remember: optional(Remember).describe(
    "Make a rule of it, by suggested_rule or your own match; always: in all sessions of its creator.",
  ),
};

type DecisionFields = {
  approve?: boolean | undefined;
  updated_input?: JsonObject | undefined;
  merge?: boolean | undefined;
  answers?: Answers | undefined;
  interrupt?: boolean | undefined;
};

/** Reported in addition to any other problem. */
const VERDICT = { path: ["approve"], error: "must be true or false", when: () => true };

function hasVerdict(value: unknown): boolean {
  return isJsonObject(value) && [value["approve"], value["answers"]].some((given) => given !== undefined);
}

/** A decision with answers alone is an approval. */
function withVerdict<D extends DecisionFields>(value: D): D & { approve: boolean } {
  return { ...value, approve: value.approve ?? true };
}

/** Refuses decisions that would not do what the decider meant. */
function checkDecision(given: DecisionFields, context: Pick<z.RefinementCtx, "addIssue">): void {
  const refuse = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  const { approve, updated_input, merge, answers, interrupt } = withVerdict(given);
  if (interrupt && approve) refuse("interrupt", "goes with approve: false only");
  if (!approve && updated_input !== undefined) refuse("updated_input", "goes with approve: true only");
  if (!approve && answers !== undefined) refuse("answers", "goes with approve: true only");
  if (merge && updated_input === undefined) refuse("merge", "goes with updated_input only");
  if (answers !== undefined && updated_input !== undefined) {
    refuse("answers", "fills in the whole input: give it or updated_input, not both");
  }
  const problem = updated_input && problemOfInput(updated_input);
  if (problem !== undefined) refuse("updated_input", problem);
}

/** Returns why a tool can't run with this input, in words that follow "it"; `undefined` if it can. */
export function problemOfInput(input: JsonObject): string | undefined {
  if (Object.keys(input).length === 0) return "must not be empty: an empty one would run the original input";
  const size = JSON.stringify(input).length;
  if (size <= MAX_UPDATED_INPUT_CHARS) return undefined;
  const limit = `Claude Code takes at most ${MAX_UPDATED_INPUT_CHARS}`;
  return `is ${size} characters of JSON; ${limit}: deny it, and say what to change`;
}

/** A decision in a REST body. */
export const Decision = z
  .strictObject(decision)
  .refine(hasVerdict, VERDICT)
  .superRefine(checkDecision)
  .transform(withVerdict);
export type Decision = z.infer<typeof Decision>;

const approval_id = Id.describe("The approval to decide.");
/** A decision, with the id of its approval. */
const ApprovalDecision = z
  .strictObject({ approval_id, ...decision })
  .refine(hasVerdict, VERDICT)
  .superRefine(checkDecision)
  .transform(withVerdict);
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

/** One of many decisions. A problem with it is reported in its own result, so that it doesn't stop the others. */
export type ReadDecision = { decision: ApprovalDecision } | { problem: string; approval_id: string | undefined };

function readDecision(given: unknown): ReadDecision {
  const { data, error } = ApprovalDecision.safeParse(given);
  if (data) return { decision: data };
  const id = isJsonObject(given) ? Id.safeParse(given["approval_id"]).data : undefined;
  return { problem: problemsIn(error, ApprovalDecision, given, "the decision"), approval_id: id };
}

const Decisions = z
  .array(
    z
      .custom<JsonObject>(isJsonObject, "must be a JSON object: approval_id, approve, and what else it takes")
      .meta({ type: "object" }),
  )
  .min(1)
  .max(MAX_DECISIONS);

/** Many decisions in a REST body. */
export const DecisionBatch = z
  .strictObject({ decisions: Decisions })
  .transform(({ decisions }) => ({ decisions: decisions.map(readDecision) }));

/** One decision, or many. */
export const RespondInput = z
  .strictObject({
    ...decision,
    approval_id: optional(approval_id).describe("The approval to decide."),
    decisions: optional(Decisions).describe("Instead: up to 100, each with the arguments above."),
    wait_secs: optional(z.number().min(0).max(110)).describe("Then wait like loopback_wait: its answer is in wait."),
    skip: WaitInput.shape.skip.describe("As in loopback_wait."),
    consumer: Consumer.describe("As in loopback_wait."),
  })
  .transform(({ decisions, wait_secs, skip, consumer, ...one }, context) => {
    const then = { wait_secs, skip, consumer };
    if (skip !== undefined && wait_secs === undefined) {
      context.issues.push({ code: "custom", path: ["skip"], message: "goes with wait_secs only", input: skip });
      return z.NEVER;
    }
    if (decisions === undefined) {
      const { data, error } = ApprovalDecision.safeParse(one);
      if (data) return { kind: "one" as const, decision: data, ...then };
      for (const { path, message } of error.issues) context.issues.push({ code: "custom", path, message, input: one });
      return z.NEVER;
    }
    const both = Object.entries(one).find(([, value]) => value !== undefined)?.[0];
    if (both === undefined) return { kind: "many" as const, decisions: decisions.map(readDecision), ...then };
    const message = "goes into each of decisions, not beside them";
    context.issues.push({ code: "custom", path: [both], message, input: one });
    return z.NEVER;
  });

/** Another decision was first. */
export const AlreadyResolved = z.strictObject({
  type: z.literal("already_resolved"),
  approval_id: Id,
  status: ApprovalStatus,
  resolved_by: z.string(),
  resolved_at: UnixSeconds,
});

/** The result of a decision: recorded, or another one was first. */
export const RespondResult = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("ok"),
    approval_id: Id,
    status: ApprovalStatus,
    /** Keys of a merged input that the original lacks, for example a misspelled one. */
    added: z.array(z.string()).optional(),
    /** For an edited input: its dangers; absent if there are none. */
    dangers: z.array(Danger).optional(),
    /** Present together with `dangers`, because they may quote the child. */
    untrusted: z.array(z.literal("dangers")).optional(),
    /** A question was allowed without answers: the child learns that nobody has answered. */
    unanswered: z.literal(true).optional(),
    /** An agent allowed it that was told only a part of its input. */
    partly_told: z.literal(true).optional(),
    /** With `remember`: the rule that decides such calls from now on. */
    rule: Rule.optional(),
    /** What that will not do although it looks as if it would. */
    rule_note: RuleNote.optional(),
  }),
  AlreadyResolved,
]);
export type RespondResult = z.infer<typeof RespondResult>;

/** The result of one of many decisions. */
export const BatchResult = z.discriminatedUnion("type", [
  ...RespondResult.options,
  ErrorResult.extend({ approval_id: Id.optional() }),
]);
export type BatchResult = z.infer<typeof BatchResult>;

/** A refused decision in a batch. */
export type RefusedDecision = { type: "refused"; error: AppError; approval_id: string | undefined };

/** Converts the result of one of many decisions for this interface. */
export function batchResult(result: RespondResult | RefusedDecision, door: Door): BatchResult {
  if (result.type !== "refused") return result;
  const { error, approval_id } = result;
  return { ...errorResult(error, door), ...(approval_id !== undefined && { approval_id }) };
}

function isAnswers(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((answer) => isLabel(answer) || isLabels(answer));
}

function isLabels(value: unknown): boolean {
  return Array.isArray(value) && value.every(isLabel);
}

function isLabel(value: unknown): boolean {
  return typeof value === "string";
}
