import type { Review } from "../../client/deciding/reviews.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import { cutText } from "../../contract/text/cut-text.ts";
import type { JsonObject } from "../../contract/values.ts";
import { type Choices, NO_CHOICES } from "../../review/choices.ts";
import { type Line as DiffLine, diffOfEdits, diffOfWrite, type FileDiff, textOf } from "../../review/diff.ts";
import { INPUT_REMOVED, kindOf, type Question } from "../../review/kinds.ts";
import { linksIn, realPathsOf } from "../../review/real-paths.ts";
import { parseCommand, partsOf, type Role } from "../../review/shell/index.ts";
import { type Line, line, type Span, span, wrapped } from "../terminal/lines.ts";
import { printableText } from "../terminal/printable.ts";
import type { Style } from "../terminal/terminal.ts";
import { ruleLines } from "./remember-lines.ts";

/** Longer text is cut in the middle. */
const MAX_CHARS = 100_000;
const MAX_LINES = 5_000;
/** Stands before each line from a child, so that none can pass for a line of Plexus. */
const GUTTER: Span = { text: "│ ", style: "dim" };

const ROLE_STYLES: Record<Role, Style | undefined> = {
  gap: undefined,
  operator: "magenta",
  keyword: "magenta",
  comment: "dim",
  program: "cyan",
  option: undefined,
  word: undefined,
  string: "green",
  variable: "yellow",
  assignment: "yellow",
  redirect: "magenta",
  substitution: "yellow",
};
const SIGN_STYLES: Record<DiffLine["sign"], Style | undefined> = { "+": "green", "-": "red", " ": undefined };

/** Everything that matters for a decision, in lines of at most this many columns. */
export function requestLines(review: Review, columns: number, choices = NO_CHOICES): Line[] {
  const dangers = review.dangers.flatMap((danger) =>
    wrapped([{ text: "! ", style: "yellow" }, span(dangerText(danger), "yellow")], columns),
  );
  return [...dangers, ...callLines(review, columns, choices), ...ruleLines(review.approval, columns)];
}

/** The dangers of the request, for a person who decides it by this id. */
export function dangerTexts({ dangers }: Review, id: string): string[] {
  return dangers.map((danger) => `! ${id}: ${printableText(dangerText(danger))}`);
}

/** The call, and the directory in which it runs. */
export function callLines({ approval, context }: Review, columns: number, choices = NO_CHOICES): Line[] {
  const workingDir = context?.working_dir ?? null;
  const place = workingDir === null ? [] : wrapped(line(`in ${workingDir}`, "dim"), columns);
  const leads = realPathsOf(approval, context).flatMap((path) =>
    wrapped([{ text: "real path: " }, span(path, "red")], columns),
  );
  const body = bodyOf({ approval, context }, choices).map((one): Line => [GUTTER, ...one]);
  const { agent } = approval;
  const asks = agent === undefined ? [] : wrapped([{ text: "subagent: " }, span(agent)], columns);
  return [...asks, ...leads, ...cutLines(body).flatMap((one) => wrapped(one, columns, GUTTER)), ...place];
}

/** The child's words before the call, for a person who did not follow the turn. */
export function saidLines({ said = "" }: Pick<Approval, "said">, columns: number): Line[] {
  if (said === "") return [];
  return [line("said before:", "dim"), ...textLines(said).flatMap((one) => wrapped([GUTTER, ...one], columns, GUTTER))];
}

function dangerText({ message }: Review["dangers"][number]): string {
  return `it ${message}`;
}

function bodyOf({ approval, context }: Pick<Review, "approval" | "context">, choices: Choices): Line[] {
  const kind = kindOf(approval);
  const file = context?.file ?? null;
  switch (kind.kind) {
    case "command": {
      const about = kind.description === "" ? [] : [line(`# ${kind.description}`, "dim")];
      const command = commandLines(cutText(kind.command, MAX_CHARS), context);
      return [...about, ...fieldLines(kind.further), ...command];
    }
    case "write":
      return diffLines(kind.path, diffOfWrite(kind.content, file));
    case "edit":
      return diffLines(kind.path, diffOfEdits(kind.edits, file));
    case "fetch":
      return [line(kind.url, "cyan"), ...textLines(kind.prompt)];
    case "questions":
      return kind.questions.flatMap((question, at) => questionLines(question, at, choices));
    case "plan":
      return [...textLines(context?.plan ?? ""), ...fieldLines(approval.input)];
    case "skill": {
      const { path, text } = context?.skill ?? { path: "", text: "" };
      const content = path === "" ? [] : [line(path, "bold"), ...textLines(text)];
      return [...fieldLines({ skill: kind.name, ...kind.further }), ...content];
    }
    case "removed":
      return [line(INPUT_REMOVED, "dim")];
    case "other":
      return fieldLines(approval.input);
  }
}

function commandLines(command: string, context: Review["context"]): Line[] {
  const lines: Line[] = [[]];
  const parts = partsOf(parseCommand(command), context?.working_dir ?? null, linksIn(context));
  for (const { text, role, isOutside } of parts) {
    const [first = "", ...rest] = text.split("\n");
    const style = isOutside ? "red" : ROLE_STYLES[role];
    lines.at(-1)?.push(span(first, style));
    for (const next of rest) lines.push([span(next, style)]);
  }
  return lines;
}

function diffLines(path: string, { hunks, added, removed, note }: FileDiff): Line[] {
  const head: Line = [span(path, "bold"), { text: `  +${added} -${removed}` }];
  const about = note === undefined ? [] : [line(`(${note})`, "yellow")];
  const changes = hunks.flatMap(({ from, lines }) => [
    line(`@@ line ${from} @@`, "cyan"),
    ...lines.map((one) => line(`${one.sign}${textOf(one)}`, SIGN_STYLES[one.sign])),
  ]);
  return [head, ...about, ...changes];
}

/** Options with numbers for the keys, a mark at the question that the digits answer, and the chosen options. */
function questionLines({ question, multiSelect, options }: Question, at: number, choices: Choices): Line[] {
  const [first = [], ...rest] = textLines(question);
  const mark: Span = { text: choices.at === at ? "▸ " : "  ", style: "cyan" };
  const several = multiSelect ? [line("  (several may be chosen)", "dim")] : [];
  const chosen = choices.chosen[at] ?? [];
  const numbered = options.map(
    ({ label, description }, number): Line => [
      { text: `    ${number + 1} ${chosen.includes(number) ? "[x]" : "[ ]"} ` },
      span(label, "bold"),
      span(description === "" ? "" : `: ${description}`),
    ],
  );
  return [[mark, ...first], ...rest, ...several, ...numbered];
}

function fieldLines(input: JsonObject): Line[] {
  return Object.entries(input).flatMap(([key, value]) => {
    const [first = [], ...rest] = textLines(typeof value === "string" ? value : JSON.stringify(value, null, 2));
    return [[span(`${key}: `, "bold"), ...first], ...rest];
  });
}

function textLines(text: string): Line[] {
  return cutText(text, MAX_CHARS)
    .split("\n")
    .map((one) => line(one));
}

function cutLines(lines: Line[]): Line[] {
  if (lines.length <= MAX_LINES) return lines;
  const half = MAX_LINES / 2;
  const left = lines.length - MAX_LINES;
  return [...lines.slice(0, half), line(`… ${left} lines left out: e shows all …`, "yellow"), ...lines.slice(-half)];
}
