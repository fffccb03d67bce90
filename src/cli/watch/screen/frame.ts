import { fitted, type Line, type Span, span, widthOf } from "../../terminal/lines.ts";
import type { Size } from "./full-screen.ts";

/** Everything that the screen shows. */
type View = {
  size: Size;
  pending: number;
  tab: "requests" | "sessions";
  /** How the list is filtered and grouped. */
  about: string;
  url: string;
  isLive: boolean;
  /** At most as many lines as `bodyRows` returns. */
  body: Line[];
  message: Line;
  keys: Line;
};

/** The number of rows between the head and the foot of the screen. */
export function bodyRows({ rows }: Size): number {
  return Math.max(3, rows - headRows(rows) - footRows(rows));
}

export function frameOf(view: View): Line[] {
  const { size, body, message, keys } = view;
  const room = bodyRows(size);
  const lines: Line[] = [
    ...(headRows(size.rows) > 0 ? [headLine(view)] : []),
    ...body.slice(0, room),
    ...Array.from({ length: room - body.length }, () => []),
    ...(footRows(size.rows) > 1 ? [message, keys] : [widthOf(message) === 0 ? keys : message]),
  ];
  return lines.slice(0, size.rows);
}

const headRows = (rows: number) => (rows >= 10 ? 1 : 0);
const footRows = (rows: number) => (rows >= 6 ? 2 : 1);

/** The current tab stands in brackets, the other one behind the key that leads to it. */
function headLine({ size, pending, tab, about, url, isLive }: View): Line {
  const tabs = [`${pending} pending`, "sessions"].map((name, at): Line => {
    const isShown = (at === 0) === (tab === "requests");
    return isShown ? [{ text: "  " }, { text: `[${name}]`, style: "bold" }] : [{ text: `  Tab: ${name}` }];
  });
  const state: Span = isLive
    ? { text: "● live", style: "green" }
    : { text: "○ no connection, trying again", style: "yellow" };
  const narrowed: Line = about === "" ? [] : [{ text: "  " }, span(about, "cyan")];
  const title: Line = [{ text: "Plexus", style: "bold" }, ...tabs.flat(), ...narrowed, { text: `  ${url}` }];
  const left = fitted(title, size.columns - Bun.stringWidth(state.text) - 2);
  const gap = Math.max(2, size.columns - widthOf(left) - Bun.stringWidth(state.text));
  return [...left, { text: " ".repeat(gap) }, state];
}
