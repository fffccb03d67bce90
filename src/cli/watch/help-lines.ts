import { type Line, line, span, wrapped } from "../terminal/lines.ts";

const DECIDING: [string, string][] = [
  ["a", "allow this request, once; a dangerous one needs a second press"],
  ["A", "allow it, and such requests from now on: edit the rule, Tab: this session or always, Enter makes it"],
  ["d", "deny it, with a reason (shown to the agent)"],
  ["e", "edit its input in $VISUAL or $EDITOR; a then allows it as edited, Esc drops the edit"],
  ["1-9, Enter", "choose an answer to a question, and send the answers; Esc drops them, a skips the question"],
];
const MOVING: [string, string][] = [
  ["s, space", "select the next request, and leave this one to others"],
  ["j, k, ↓, ↑", "move in the list; g and G go to its ends"],
  ["J, K, PgDn, PgUp", "scroll the selected request"],
  ["/", "list only the requests with a text; Enter keeps the filter, Esc drops it"],
  ["b", "group by session, by tool, or not at all"],
];
const IN_SESSIONS: [string, string][] = [
  ["Enter", "follow the selected session; there, show a request of it that needs approval"],
  ["Esc", "go back to the list"],
  ["j, k, ↓, ↑", "move in the list, or scroll; g and G go to the ends, and at the end new lines come into view"],
  ["PgDn, PgUp", "move or scroll by a page"],
  ["/", "list only the sessions with a text; Enter keeps the filter, Esc drops it"],
];
const EVERYWHERE: [string, string][] = [
  ["Tab", "change between the requests and the sessions"],
  ["Ctrl-Z", "suspend; fg comes back"],
  ["q, Ctrl-C", "quit, without deciding anything"],
];
const IN_A_TURN: [string, string][] = [
  ["s", "leave this request to others"],
  ["Ctrl-C", "cancel the turn"],
];
const WIDTH = Math.max(...MOVING.map(([keys]) => keys.length)) + 2;
const LEAST_TEXT = 30;
const VISIBLE = "Characters that would not show are written as \\u{…}; the agent's text stands behind │.";

export function helpLines(tab: "requests" | "sessions", columns: number): Line[] {
  const keys = tab === "requests" ? [...DECIDING, ...MOVING] : IN_SESSIONS;
  return [
    line(`Keys among the ${tab}`, "bold"),
    ...keyLines([...keys, ...EVERYWHERE], columns),
    [],
    ...textLines(VISIBLE, columns),
  ];
}

/** The help for places with one request at a time and no list. */
export function decidingHelp(columns: number): Line[] {
  return [...keyLines([...DECIDING, ...IN_A_TURN], columns), ...textLines(VISIBLE, columns)];
}

/** The effect of a key stands beside it, or below it if the column would be too narrow. */
function keyLines(keys: [string, string][], columns: number): Line[] {
  const isNarrow = columns - WIDTH < LEAST_TEXT;
  const indent = " ".repeat(isNarrow ? 2 : WIDTH);
  return keys.flatMap(([key, does]): Line[] => {
    const texts = wordLines(does, Math.max(1, columns - indent.length));
    const below = texts.map((text): Line => [{ text: indent }, span(text)]);
    if (isNarrow) return [[span(key, "cyan")], ...below];
    return [[span(key.padEnd(WIDTH), "cyan"), span(texts[0] ?? "")], ...below.slice(1)];
  });
}

function textLines(text: string, columns: number): Line[] {
  return wordLines(text, columns).map((one) => line(one));
}

/** Breaks text between words. Only a word wider than the screen is cut. */
function wordLines(text: string, columns: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.pop() ?? "";
    const longer = last === "" ? word : `${last} ${word}`;
    if (Bun.stringWidth(longer) <= columns || last === "") lines.push(longer);
    else lines.push(last, word);
  }
  return lines.flatMap((one) => wrapped(line(one), columns).map((part) => part.map((piece) => piece.text).join("")));
}
