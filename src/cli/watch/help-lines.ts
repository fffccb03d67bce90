import { type Line, line, span, wrapped } from "./lines.ts";

const KEYS: [string, string][] = [
  ["a", "allow this one call; what is dangerous wants a second press"],
  ["d", "deny it, with a reason that the child reads"],
  ["e", "edit its input in $VISUAL or $EDITOR; a then allows it as edited, Esc drops the edit"],
  ["s, space", "look at the next one, and leave this one to others"],
  ["j, k, ↓, ↑", "move in the list; g and G go to its ends"],
  ["J, K, PgDn, PgUp", "move in what is shown of the one that is looked at"],
  ["Ctrl-Z", "suspend; fg comes back"],
  ["q, Ctrl-C", "quit; nothing is decided by that"],
];
const WIDTH = Math.max(...KEYS.map(([keys]) => keys.length)) + 2;

export function helpLines(columns: number): Line[] {
  const lines: Line[] = [
    line("Keys", "bold"),
    ...KEYS.map(([keys, does]): Line => [span(keys.padEnd(WIDTH), "cyan"), span(does)]),
    [],
    line("Characters that would not show are written as \\u{…}, and a child's text stands behind │."),
    line("Any key goes back.", "dim"),
  ];
  return lines.flatMap((one) => wrapped(one, columns, { text: "  " }));
}
