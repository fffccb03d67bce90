import { type Line, line, span, wrapped } from "./lines.ts";

const DECIDING: [string, string][] = [
  ["a", "allow this request, once; a dangerous one needs a second press"],
  ["d", "deny it, with a reason (shown to the agent)"],
  ["e", "edit its input in $VISUAL or $EDITOR; a then allows it as edited, Esc drops the edit"],
  ["1-9, Enter", "choose an answer to a question, and send the answers; Esc drops them, a skips the question"],
];
const MOVING: [string, string][] = [
  ["s, space", "select the next request, and leave this one to others"],
  ["j, k, ↓, ↑", "move in the list; g and G go to its ends"],
  ["J, K, PgDn, PgUp", "scroll the selected request"],
  ["Ctrl-Z", "suspend; fg comes back"],
  ["q, Ctrl-C", "quit, without deciding anything"],
];
const IN_A_TURN: [string, string][] = [
  ["s", "leave this request to others"],
  ["Ctrl-C", "cancel the turn"],
];
const WIDTH = Math.max(...MOVING.map(([keys]) => keys.length)) + 2;
const VISIBLE = "Characters that would not show are written as \\u{…}; the agent's text stands behind │.";

export function helpLines(columns: number): Line[] {
  const lines = [line("Keys", "bold"), ...keyLines([...DECIDING, ...MOVING]), [], line(VISIBLE)];
  return [...lines, line("Any key goes back.", "dim")].flatMap((one) => wrapped(one, columns, { text: "  " }));
}

/** For where there is one request at a time, and no list. */
export function decidingHelp(columns: number): Line[] {
  const lines = [...keyLines([...DECIDING, ...IN_A_TURN]), line(VISIBLE)];
  return lines.flatMap((one) => wrapped(one, columns, { text: "  " }));
}

function keyLines(keys: [string, string][]): Line[] {
  return keys.map(([key, does]) => [span(key.padEnd(WIDTH), "cyan"), span(does)]);
}
