import { fitted, type Line, painted } from "../../terminal/lines.ts";
import type { Terminal } from "../../terminal/terminal.ts";

export type Size = { columns: number; rows: number };

const CSI = "\u001b[";
/** Alternate screen, no cursor, no wrapping, and bracketed paste. */
const ENTER = `${CSI}?1049h${CSI}?25l${CSI}?7l${CSI}?2004h${CSI}2J`;
const LEAVE = `${CSI}?2004l${CSI}?7h${CSI}?25h${CSI}?1049l`;
const [BEGIN_UPDATE, END_UPDATE] = [`${CSI}?2026h`, `${CSI}?2026l`];

/** The whole screen of a terminal, from `enter` to `leave`. It is restored however the program ends. */
export type FullScreen = Disposable & {
  size(): Size;
  enter(): void;
  leave(): void;
  /** Shows these lines, writing only what has changed. */
  draw(lines: Line[]): void;
};

export function openFullScreen(terminal: Terminal, onResize: () => void): FullScreen {
  let shown: string[] | undefined;
  const enter = () => {
    if (shown) return;
    terminal.out(ENTER);
    shown = [];
  };
  const leave = () => {
    if (!shown) return;
    terminal.out(LEAVE);
    shown = undefined;
  };
  const resized = () => {
    if (shown) terminal.out(`${CSI}2J`);
    if (shown) shown = [];
    onResize();
  };
  process.on("exit", leave);
  process.stdout.on("resize", resized);

  return {
    size: () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }),
    enter,
    leave,
    draw(lines) {
      if (!shown) return;
      const columns = process.stdout.columns || 80;
      const next = lines.map((line) => painted(fitted(line, columns), terminal));
      const before = shown;
      const changes = next.flatMap((text, row) => (text === before[row] ? [] : `${CSI}${row + 1};1H${CSI}2K${text}`));
      shown = next;
      if (changes.length > 0) terminal.out(`${BEGIN_UPDATE}${changes.join("")}${END_UPDATE}`);
    },
    [Symbol.dispose]() {
      leave();
      process.off("exit", leave);
      process.stdout.off("resize", resized);
    },
  };
}
