import { openKeyboard } from "../terminal/keyboard.ts";
import { keysIn } from "../terminal/keys.ts";
import { bold, CommandFailed, type Terminal } from "../terminal/terminal.ts";

/** Confirms with one key. Any other key declines, and so does the lack of a terminal. */
export async function confirm(question: string, terminal: Terminal, otherwise = "--yes writes it."): Promise<void> {
  const keyboard = terminal.isInteractive ? openKeyboard() : undefined;
  if (!keyboard) throw new CommandFailed(`Nothing was done: there is nobody to ask. ${otherwise}`);
  const { promise, resolve } = Promise.withResolvers<string>();
  using _ = keyboard;
  // Enter may come in the same chunk.
  using __ = keyboard.read((typed) => resolve(keysIn(typed)[0] ?? ""));
  terminal.out(bold(`${question} [y/N] `, terminal));
  const answer = await promise;
  const isYes = answer === "y" || answer === "Y";
  terminal.out(isYes ? "yes\n" : "no\n");
  if (!isYes) throw new CommandFailed("Nothing was done.");
}
