import type { RuleDecision } from "../../../contract/rules/rule.ts";
import { programsOf } from "../../rules/matching/commands/found-command.ts";
import type { Pattern } from "../../rules/matching/pattern.ts";

/** What a shell takes away when it reads a word, so that `g'i't`, `g\it` and `"git"` have the same letters. */
const QUOTING = /['"\\\n]/g;
/** Ways to write a word in which its letters don't stand side by side: `$'\x67it'`, `{g,x}it`, `printf '\147it'`. */
const SPELLED_OTHERWISE = /\$['"]|\{[^\s]*(?:,|\.\.)|\\[0-7xuU]/;
/** The loader has many names, and other letters may have several lower cases. */
const PLAIN_NAME = /^(?!ld\.so$)[\w.:,+@%-]+$/;

/**
 * A look at the text of a call's command which is so quick that the whole past can be looked at. `false` means that a
 * rule with this pattern certainly does not match; a test holds it against the full reading.
 */
export function quickLook(decision: RuleDecision, pattern: Pattern): (command: string) => boolean {
  if (pattern.kind !== "command") return () => true;
  // To be proven safe, a program must be written as it is.
  if (decision === "allow") return (command) => command.includes(pattern.command.words[0] ?? "");
  const names = programsOf(pattern.command);
  if (!names.every((name) => PLAIN_NAME.test(name))) return () => true;
  return (command) => {
    if (SPELLED_OTHERWISE.test(command)) return true;
    const text = command.replaceAll(QUOTING, "").toLowerCase();
    return names.some((name) => text.includes(name));
  };
}
