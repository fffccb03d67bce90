import { shortId } from "../../client/words/short-id.ts";
import type { ApprovalStatus } from "../../contract/approvals/approval.ts";
import { TurnEvent } from "../../contract/sessions/turn.ts";
import { cutText } from "../../contract/text/cut-text.ts";
import type { JsonObject } from "../../contract/values.ts";
import { decidedWords } from "./decided-by.ts";
import { painted, type Span } from "./lines.ts";
import { printable, printableText } from "./printable.ts";
import { shortened, wrapped } from "./table.ts";
import type { Terminal } from "./terminal.ts";

const UNLIMITED_COLUMNS = 200;
const MAX_INPUT_CHARS = 20_000;
export const GUTTER = "│ ";
/** The keys of an input that best describe a call, best first. */
const TELLING = ["command", "file_path", "notebook_path", "path", "pattern", "url", "query", "prompt", "description"];

const UNASKED = "This call ran although Plexus had not allowed it.";

type Speech = "content" | "thinking";

/** Formats events for a person: speech as it streams, everything else on its own lines. */
export function createEventText(terminal: Terminal, options: { withInputs: boolean }): (event: object) => string {
  const columns = terminal.isInteractive ? terminal.columns : UNLIMITED_COLUMNS;
  const spans = createEventSpans({ columns, ...options });
  return (event) => painted(spans(event), terminal);
}

/** The same as styled spans. Line breaks are part of their text. */
export function createEventSpans({
  columns = UNLIMITED_COLUMNS,
  withInputs,
}: {
  columns?: number;
  withInputs: boolean;
}): (event: object) => Span[] {
  let speaking: Speech | undefined;
  let endsLine = false;
  const row = (mark: string, text: string) => shortened(`${mark} ${printable(text)}`, columns);

  /** A child's words stand behind a bar, so that none of their lines can pass for a line of Plexus. */
  function speech(kind: Speech, text: string): Span[] {
    const isNew = speaking !== kind;
    const before = isNew && speaking && !endsLine ? "\n" : "";
    const said = (isNew && kind === "thinking" ? "(thinking) " : "") + printableText(text);
    const isAtStart = isNew || endsLine;
    endsLine = said.endsWith("\n");
    speaking = kind;
    const barred = said.replaceAll(/\n(?!$)/g, `\n${GUTTER}`);
    const shown = isAtStart && said !== "" ? `${GUTTER}${barred}` : barred;
    return [{ text: before }, { text: shown, style: kind === "thinking" ? "dim" : undefined }];
  }

  function lines(...rows: Span[]): Span[] {
    const before = speaking && !endsLine ? "\n" : "";
    speaking = undefined;
    endsLine = false;
    return [{ text: before }, ...rows.flatMap((one): Span[] => [one, { text: "\n" }])];
  }

  return (told) => {
    const event = TurnEvent.safeParse(told).data;
    switch (event?.type) {
      case "content":
        return speech("content", event.text);
      case "thinking":
        return speech("thinking", event.thinking);
      case "tool_use":
        return lines({ text: row("→", `${event.tool_name} ${about(event.input)}`) });
      case "tool_result": {
        const unasked: Span[] = event.unasked ? [{ text: row("!", UNASKED), style: "red" }] : [];
        const result = row("←", resultLine(event.output, event.is_error));
        return lines(...unasked, { text: result, style: event.is_error ? "red" : "dim" });
      }
      case "approval_requested": {
        const needs = row("?", `${event.tool_name} needs approval (${shortId(event.approval_id)})`);
        return lines(
          { text: needs, style: "yellow" },
          ...(withInputs ? [{ text: inputLines(event.input, columns) }] : []),
        );
      }
      case "approval_resolved": {
        const { mark, style, words } = APPROVAL_OUTCOMES[event.status];
        const reason = event.response_message ? `: ${event.response_message}` : "";
        const edited = event.updated_input ? ", edited" : "";
        const decided = row(mark, `${event.tool_name} ${words(event.resolved_by)}${edited}${reason}`);
        if (!event.updated_input) return lines({ text: decided, style });
        const ran = row("→", `${event.tool_name} ${about(event.updated_input)}`);
        return lines({ text: decided, style }, { text: withInputs ? inputLines(event.updated_input, columns) : ran });
      }
      case "complete": {
        const { num_turns, input_tokens, output_tokens, cost_usd } = event.usage;
        const used = `${num_turns} ${num_turns === 1 ? "turn" : "turns"}, ${input_tokens} tokens in, ${output_tokens} out, $${cost_usd.toFixed(4)}`;
        return lines({ text: row("✓", `done: ${used}`), style: "dim" });
      }
      case "error":
        return lines({ text: `✗ ${printableText(event.message)}`, style: "red" });
      case "start":
      case "passthrough":
      case undefined:
        return [];
    }
  };
}

type OutcomeStyle = { mark: string; style: "green" | "red" | "yellow"; words: (by: string) => string };
/** How a request ended: a mark, a color, and words that follow the name of its tool. */
export const APPROVAL_OUTCOMES: Record<ApprovalStatus, OutcomeStyle> = {
  pending: { mark: "?", style: "yellow", words: () => "is still pending" },
  allowed: { mark: "✓", style: "green", words: (by) => `was ${decidedWords("allowed", by)}` },
  denied: { mark: "✗", style: "red", words: (by) => `was ${decidedWords("denied", by)}` },
  timed_out: { mark: "✗", style: "red", words: () => "was not decided in time" },
  abandoned: { mark: "✗", style: "yellow", words: () => "was abandoned" },
};

function about(input: JsonObject): string {
  const telling = TELLING.map((key) => input[key]).find((value) => typeof value === "string");
  return typeof telling === "string" ? telling : JSON.stringify(input);
}

function resultLine(output: string, isError: boolean): string {
  const [first = "", ...rest] = output.trim().split("\n");
  const more = rest.length > 0 ? ` (+${rest.length} lines)` : "";
  return `${isError ? "error: " : ""}${first || "(nothing)"}${more}`;
}

/** The whole input for the person who decides. Each line is marked, so that none can pass for a line of Plexus. */
function inputLines(input: JsonObject, columns: number): string {
  const fields = Object.entries(input).map(([key, value]) => {
    return `${key}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`;
  });
  const text = fields.join("\n");
  const rows = printableText(cutText(text, MAX_INPUT_CHARS))
    .split("\n")
    .flatMap((line) => wrapped(line, columns - GUTTER.length));
  if (text.length > MAX_INPUT_CHARS) rows.push("(`plexus pending --json` shows all of it)");
  return rows.map((line) => GUTTER + line).join("\n");
}
