import { type Line, line, span, wrapped } from "./lines.ts";

const DECIDING: [string, string][] = [
  ["a", "allow this one call; what is dangerous needs a second press"],
  ["d", "deny it, with a reason that the child reads"],
  ["e", "edit its input in $VISUAL or $EDITOR; a then allows it as edited, Esc drops the edit"],
  ["1-9, Enter", "choose an answer to a question, and send the answers; Esc drops them, a goes on without"],
];
const MOVING: [string, string][] = [
  ["s, space", "look at the next one, and leave this one to others"],
  ["j, k, ↓, ↑", "move in the list; g and G go to its ends"],
  ["J, K, PgDn, PgUp", "move in what is shown of the one that is looked at"],
  ["Ctrl-Z", "suspend; fg comes back"],
  ["q, Ctrl-C", "quit; nothing is decided by that"],
];
const IN_A_TURN: [string, string][] = [
  ["s", "leave this one to others"],
  ["Ctrl-C", "cancel the turn"],
];
const WIDTH = Math.max(...MOVING.map(([keys]) => keys.length)) + 2;
const VISIBLE = "Characters that would not show are written as \\u{…}, and a child's text stands behind │.";

export function helpLines(columns: number): Line[] {
  const lines = [line("Keys", "bold"), ...keyLines([...DECIDING, ...MOVING]), [], line(VISIBLE)];
  return [...lines, line("Any key goes back.", "dim")].flatMap((one) => wrapped(one, columns, { text: "  " }));
}

/** For where there is one ask at a time, and no list. */
export function decidingHelp(columns: number): Line[] {
  const lines = [...keyLines([...DECIDING, ...IN_A_TURN]), line(VISIBLE)];
  return lines.flatMap((one) => wrapped(one, columns, { text: "  " }));
}

function keyLines(keys: [string, string][]): Line[] {
  return keys.map(([key, does]) => [span(key.padEnd(WIDTH), "cyan"), span(does)]);
}
