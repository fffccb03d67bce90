import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

const ERASE_ROW = "\r\u001b[K";

/** Standard output, with at most one prompt row below it that moves down as output arrives. */
export type Screen = {
  write(text: string): void;
  /** Prints a line for the person, separate from the child's output. */
  note(line: string): void;
  /** Shows this row as the prompt, or none. It must fit the width of the screen. */
  ask(row: string | undefined): void;
  /** Leaves the terminal to another program. Output that arrives meanwhile is shown afterwards. */
  away<T>(work: () => Promise<T>): Promise<T>;
};

export function createScreen(terminal: Terminal): Screen {
  let asked: string | undefined;
  let atLineStart = true;
  let held: (() => void)[] | undefined;

  function aside(print: () => void): void {
    if (held) return void held.push(() => aside(print));
    if (asked !== undefined) terminal.out(ERASE_ROW);
    print();
    if (asked === undefined) return;
    startLine();
    terminal.out(asked);
  }

  function startLine(): void {
    if (!atLineStart) terminal.out("\n");
    atLineStart = true;
  }

  return {
    write(text) {
      if (text === "") return;
      aside(() => {
        terminal.out(text);
        atLineStart = text.endsWith("\n");
      });
    },
    note: (line) =>
      aside(() => {
        if (terminal.isInteractive) startLine();
        terminal.err(`${printable(line)}\n`);
      }),
    ask(row) {
      if (asked !== undefined) terminal.out(ERASE_ROW);
      else if (row !== undefined) startLine();
      asked = row;
      if (row !== undefined) terminal.out(row);
    },
    async away(work) {
      held = [];
      try {
        return await work();
      } finally {
        const late = held;
        held = undefined;
        for (const print of late) print();
      }
    },
  };
}
