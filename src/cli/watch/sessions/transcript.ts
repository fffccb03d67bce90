import type { Api } from "../../../client/api.ts";
import { sessionEvents } from "../../../client/feeds.ts";
import { isUnreachable, Refused } from "../../../contract/refusals/refused.ts";
import { cutText } from "../../../contract/text/cut-text.ts";
import { createEventSpans, GUTTER } from "../../terminal/event-text.ts";
import { type Line, line, type Span, widthOf, wrapped } from "../../terminal/lines.ts";

/** Only the end of a long transcript is kept. */
const MAX_LINES = 2_000;
const MAX_LINE_COLUMNS = 4_000;
const MAX_CHARS = 20_000;

type TranscriptNeed = {
  api: Api;
  sessionId: string;
  onChange: () => void;
  /** Called with the reason why no more events come, for example that the session is deleted. */
  onEnd: (cause: unknown) => void;
};

export type Transcript = ReturnType<typeof createTranscript>;

/** The newest turn of a session as lines, followed live. */
export function createTranscript({ api, sessionId, onChange, onEnd }: TranscriptNeed) {
  const over = new AbortController();
  const { signal } = over;
  const spans = createEventSpans({ withInputs: false });
  /** The last line may be incomplete. */
  let lines: Line[] = [[]];
  const broken = new WeakMap<Line, { columns: number; rows: Line[] }>();
  let turnId: string | undefined;
  let isCut = false;
  /** The first row in view; `undefined` while the view follows the end. */
  let top: number | undefined;
  let lastTop = 0;

  async function follow(): Promise<void> {
    const onLost = (cause: unknown) => {
      if (cause instanceof Refused && !isUnreachable(cause) && cause.code !== "invalid_arguments") throw cause;
    };
    for await (const told of sessionEvents({ api, session: sessionId, isLive: true, signal, onLost })) {
      if (!told) continue;
      if (turnId !== undefined && turnId !== told.turn_id) add([{ text: "\n── the next turn\n", style: "dim" }]);
      turnId = told.turn_id;
      add(spans(told.event));
      onChange();
    }
  }

  function add(told: Span[]): void {
    for (const { text, style } of told) {
      for (const [at, part] of cutText(text, MAX_CHARS).split("\n").entries()) {
        if (at > 0) lines.push([]);
        append({ text: part, style });
      }
    }
    if (lines.length <= MAX_LINES) return;
    isCut = true;
    lines = lines.slice(-MAX_LINES);
  }

  function append(part: Span): void {
    if (part.text === "") return;
    const last = lines.pop() ?? [];
    const isLong = widthOf(last) > MAX_LINE_COLUMNS;
    if (isLong) lines.push(last, [...gutterOf(last), part]);
    else lines.push([...last, part]);
  }

  function rowsOf(one: Line, columns: number): Line[] {
    const known = broken.get(one);
    if (known?.columns === columns) return known.rows;
    const [gutter = { text: "  " }] = gutterOf(one);
    const rows = wrapped(one, columns, gutter);
    broken.set(one, { columns, rows });
    return rows;
  }

  follow().catch(onEnd);
  return {
    scrollBy(rows: number): void {
      top = Math.max(0, (top ?? lastTop) + rows);
    },
    toEnd(): void {
      top = undefined;
    },
    view(columns: number, rows: number): { lines: Line[]; part: string } {
      if (turnId === undefined) return { lines: [line("No turn yet", "dim")], part: "" };
      const cut = isCut ? [line("What happened before is on the page, and in `plexus logs`.", "dim")] : [];
      const written = lines.at(-1)?.length === 0 ? lines.slice(0, -1) : lines;
      const all = [...cut, ...written.flatMap((one) => rowsOf(one, columns))];
      lastTop = Math.max(0, all.length - rows);
      if (top !== undefined && top >= lastTop) top = undefined;
      const from = top ?? lastTop;
      const shown = all.slice(from, from + rows);
      return { lines: shown, part: all.length > rows ? ` ${from + 1}-${from + shown.length}/${all.length}` : "" };
    },
    [Symbol.dispose]: () => over.abort(),
  };
}

/** A child's words stay behind their bar when a long line wraps. */
function gutterOf(one: Line): Span[] {
  return one[0]?.text.startsWith(GUTTER) ? [{ text: GUTTER, style: one[0].style }] : [];
}
