import type { Keyboard } from "./keyboard.ts";
import { CTRL_C, ENTER, editedLine, keysIn } from "./keys.ts";
import { printable } from "./printable.ts";
import type { Screen } from "./screen.ts";
import { bold, type Terminal } from "./terminal.ts";

export type Choice = { kind: "allow" } | { kind: "deny"; reason: string } | { kind: "skip" };

const QUESTION = "Allow it? [a]llow  [d]eny  [s]kip ";
const WHY = "Why not? (Enter denies, Esc goes back) ";

type Asking = { keyboard: Keyboard; screen: Screen; terminal: Terminal; onInterrupt: () => void };

/** Asks the person at the terminal to decide, in one row and with one key; `undefined` when that is not needed any more. */
export function askDecision(
  { keyboard, screen, terminal, onInterrupt }: Asking,
  signal: AbortSignal,
): Promise<Choice | undefined> {
  const { promise, resolve } = Promise.withResolvers<Choice | undefined>();
  let reason: string | undefined;
  let isOver = false;
  const end = (choice: Choice | undefined) => {
    if (isOver) return;
    isOver = true;
    reading[Symbol.dispose]();
    screen.ask(undefined);
    resolve(choice);
  };

  const show = () => {
    const row = reason === undefined ? QUESTION : WHY + tailOf(printable(reason), terminal.columns - WHY.length - 1);
    screen.ask(bold(row, terminal));
  };
  const choose = (key: string) => {
    if (key === "a") end({ kind: "allow" });
    if (key === "s") end({ kind: "skip" });
    if (key === "d") reason = "";
  };
  const take = (key: string) => {
    if (key === CTRL_C) onInterrupt();
    else if (reason === undefined) choose(key);
    else if (ENTER.includes(key)) end({ kind: "deny", reason: reason.trim() });
    else reason = editedLine(reason, key);
  };
  const reading = keyboard.read((keys) => {
    for (const key of keysIn(keys)) if (!isOver) take(key);
    if (!isOver) show();
  });
  show();

  signal.addEventListener("abort", () => end(undefined), { once: true });
  return promise;
}

/** The end of the text, as much as fits in these columns. */
function tailOf(text: string, columns: number): string {
  const characters = Array.from(text);
  while (Bun.stringWidth(characters.join("")) > columns) characters.shift();
  return characters.join("");
}
