import { openKeyboard } from "../terminal/keyboard.ts";
import { bold, CommandFailed, type Terminal } from "../terminal/terminal.ts";

/** One key confirms; any other key, or no terminal, declines. */
export async function confirm(question: string, terminal: Terminal): Promise<void> {
  const keyboard = terminal.isInteractive ? openKeyboard() : undefined;
  if (!keyboard) throw new CommandFailed("Nothing was written: there is nobody to ask. --yes writes it.");
  const { promise, resolve } = Promise.withResolvers<string>();
  using _ = keyboard;
  using __ = keyboard.read((keys) => resolve(keys));
  terminal.out(bold(`${question} [y/N] `, terminal));
  const answer = await promise;
  const isYes = answer === "y" || answer === "Y";
  terminal.out(isYes ? "yes\n" : "no\n");
  if (!isYes) throw new CommandFailed("Nothing was written.");
}
