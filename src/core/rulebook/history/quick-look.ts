import type { RuleDecision } from "../../../contract/rules/rule.ts";
import { programsOf } from "../../rules/matching/commands/found-command.ts";
import type { Pattern } from "../../rules/matching/pattern.ts";

/** Characters that a shell removes from a word: `g'i't`, `g\it` and `"git"` all mean `git`. */
const QUOTING = /['"\\\n]/g;
/** Spellings in which the letters of a word are not adjacent: `$'\x67it'`, `{g,x}it`, `printf '\147it'`. */
const SPELLED_OTHERWISE = /\$['"]|\{[^\s]*(?:,|\.\.)|\\[0-7xuU]/;
/**
 * Names that need no full check: the loader has many names, and letters outside of ASCII may have several lower cases.
 */
const PLAIN_NAME = /^(?!ld\.so$)[\w.:,+@%-]+$/;

/**
 * A test of a command's text that is fast enough for the whole history. `false` means that a rule with this pattern
 * certainly does not match; a test compares it with the full check.
 */
export function quickLook(decision: RuleDecision, pattern: Pattern): (command: string) => boolean {
  if (pattern.kind !== "command") return () => true;
  // An allow rule only covers a program that is written literally.
  if (decision === "allow") return (command) => command.includes(pattern.command.words[0] ?? "");
  const names = programsOf(pattern.command);
  if (!names.every((name) => PLAIN_NAME.test(name))) return () => true;
  return (command) => {
    if (SPELLED_OTHERWISE.test(command)) return true;
    const text = command.replaceAll(QUOTING, "").toLowerCase();
    return names.some((name) => text.includes(name));
  };
}
