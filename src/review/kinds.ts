import type { Approval } from "../contract/approvals/approval.ts";
import { isJsonObject, type JsonObject } from "../contract/values.ts";

const SUMMARY_PATH_CHARS = 40;

export type FileEdit = { before: string; after: string; everywhere: boolean };
export type Question = {
  question: string;
  header: string;
  multiSelect: boolean;
  options: { label: string; description: string }[];
};

/** The kind of a request, which determines how it is shown. */
type Kind =
  /** `further`: everything else that changes how the command runs. */
  | { kind: "command"; command: string; description: string; further: JsonObject }
  | { kind: "write"; path: string; content: string }
  | { kind: "edit"; path: string; edits: FileEdit[] }
  | { kind: "fetch"; url: string; prompt: string }
  | { kind: "questions"; questions: Question[] }
  | { kind: "plan" }
  | { kind: "skill"; name: string; further: JsonObject }
  | { kind: "removed" }
  | { kind: "other" };

/** Shown instead of an input that Plexus no longer has. */
export const INPUT_REMOVED = "(the input was removed to save space)";

type Request = Pick<Approval, "tool_name" | "input" | "input_removed_at">;

/** Returns the kind for the tool's name, if the input has the shape that the tool accepts. */
export function kindOf({ tool_name, input, input_removed_at }: Request): Kind {
  if (input_removed_at !== undefined) return { kind: "removed" };
  const path = text(input["file_path"]);
  if (tool_name === "Bash" && typeof input["command"] === "string") {
    const { command, description, ...further } = input;
    // A description that is not text can't be shown as one, so show it with the other keys.
    if (description !== undefined && typeof description !== "string") further["description"] = description;
    return { kind: "command", command: input["command"], description: text(description), further };
  }
  if (tool_name === "Write" && path && typeof input["content"] === "string") {
    return { kind: "write", path, content: input["content"] };
  }
  const edits = tool_name === "Edit" ? [edit(input)] : tool_name === "MultiEdit" ? list(input["edits"]).map(edit) : [];
  if (path && edits.length > 0) {
    const whole = edits.flatMap((one) => one ?? []);
    if (whole.length === edits.length) return { kind: "edit", path, edits: whole };
  }
  if (tool_name === "WebFetch" && typeof input["url"] === "string") {
    return { kind: "fetch", url: input["url"], prompt: text(input["prompt"]) };
  }
  const questions = tool_name === "AskUserQuestion" ? list(input["questions"]).map(question) : [];
  if (questions.length > 0 && questions.every((one) => one !== undefined)) return { kind: "questions", questions };
  if (tool_name === "ExitPlanMode") return { kind: "plan" };
  if (tool_name === "Skill" && typeof input["skill"] === "string") {
    const { skill, ...further } = input;
    return { kind: "skill", name: input["skill"], further };
  }
  return { kind: "other" };
}

/** Returns one line that distinguishes a request from others. */
export function summaryOf(approval: Request): string {
  const kind = kindOf(approval);
  switch (kind.kind) {
    case "command":
      return kind.command;
    case "write":
    case "edit":
      return endOf(kind.path);
    case "fetch":
      return kind.url;
    case "questions":
      return kind.questions[0]?.question ?? "";
    case "plan":
      return "leaves plan mode";
    case "skill":
      return kind.name;
    case "removed":
      return INPUT_REMOVED;
    case "other": {
      const texts = Object.values(approval.input).filter((value) => typeof value === "string");
      return texts[0] ?? JSON.stringify(approval.input);
    }
  }
}

/** The same for the input that ran, which somebody may have edited. */
export function summaryOfRun(approval: Request & Pick<Approval, "updated_input">): string {
  return summaryOf({ ...approval, input: approval.updated_input ?? approval.input });
}

/** Keeps the end of a long path, which says more than its beginning. */
function endOf(path: string): string {
  if (path.length <= SUMMARY_PATH_CHARS) return path;
  const end = path.slice(1 - SUMMARY_PATH_CHARS);
  return `…${end.slice(Math.max(0, end.indexOf("/")))}`;
}

/** Returns the answers in the order of the questions; empty if the input is not an answer. */
export function answersIn({ tool_name, updated_input }: Pick<Approval, "tool_name" | "updated_input">) {
  const answers = tool_name === "AskUserQuestion" && updated_input?.["answers"];
  if (!isJsonObject(answers)) return [];
  return Object.entries(answers).map(([question, answer]) => ({ question, answer: text(answer) }));
}

function edit(value: unknown): FileEdit | undefined {
  if (!isJsonObject(value)) return undefined;
  const { old_string: before, new_string: after } = value;
  if (typeof before !== "string" || typeof after !== "string") return undefined;
  return { before, after, everywhere: value["replace_all"] === true };
}

function question(value: unknown): Question | undefined {
  if (!isJsonObject(value) || typeof value["question"] !== "string") return undefined;
  return {
    question: value["question"],
    header: text(value["header"]),
    multiSelect: value["multiSelect"] === true,
    options: list(value["options"]).flatMap((option) => {
      if (typeof option === "string") return [{ label: option, description: "" }];
      if (!isJsonObject(option) || typeof option["label"] !== "string") return [];
      return [{ label: option["label"], description: text(option["description"]) }];
    }),
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns every text in an input, at any depth. */
export function textsIn(input: JsonObject): string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [input];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string") texts.push(next);
    else if (typeof next === "object" && next !== null) {
      // Push one by one: an input may have more values than a function call can have arguments.
      for (const value of Object.values(next)) if (value !== null) waiting.push(value);
    }
  }
  return texts;
}
