import type { Confirmation } from "../../client/deciding/confirmation.ts";
import type { Decider, DeciderResult } from "../../client/deciding/decider.ts";
import { type RememberState, rememberOf } from "../../client/deciding/remember.ts";
import type { InboxItem } from "../../client/inbox.ts";
import type { Rule } from "../../contract/rules/rule.ts";
import { ENTER, editedLine } from "../terminal/keys.ts";
import type { Line } from "../terminal/lines.ts";
import { aboutLines, matchLine, oneLine } from "./remember-lines.ts";
import { wordsFor } from "./result-words.ts";

const TAB = "\t";

type RememberKeysNeed = {
  remembering: RememberState;
  current: () => InboxItem | undefined;
  decider: Decider;
  confirmation: Confirmation;
  /** Called when a decision created a rule. */
  remembered: (rule: Rule) => void;
  /** Called with any other result of the decision. */
  tell: (result: DeciderResult) => void;
  fail: (cause: unknown) => void;
};

/** The keys while the person edits the rule for an allow. */
export function createRememberKeys(need: RememberKeysNeed) {
  const { remembering, current, decider, confirmation, remembered, tell, fail } = need;
  /** The result of the last press, until the next key. */
  let note: string | undefined;

  async function make(): Promise<void> {
    const state = remembering.current();
    const remember = state && rememberOf(state);
    if (!state || !remember) return;
    // The request for which the rule was written is no longer in view.
    if (current()?.approval.id !== state.approval.id) return remembering.leave();
    const result = await decider.allowAndRemember(remember, state.input);
    if (result.kind === "too_soon") return;
    const [sent] = result.kind === "sent" ? result.decisions : [];
    if (result.kind === "armed" || sent?.result.kind === "failed") {
      note = wordsFor(result, "Enter")[0]?.text;
      return tell({ kind: "moved_on" });
    }
    remembering.leave();
    if (sent?.result.kind === "decided" && sent.result.rule) remembered(sent.result.rule);
    else tell(result);
  }

  return {
    /** Whether the key was meant for the rule. */
    take(key: string, isPasting: boolean): boolean {
      const state = remembering.current();
      if (!state) return false;
      if (ENTER.includes(key) && !isPasting) {
        make().catch(fail);
        return true;
      }
      note = undefined;
      confirmation.disarm();
      if (key === TAB) remembering.setScope(state.scope === "session" ? "always" : "session");
      else {
        const match = editedLine(state.match, ENTER.includes(key) ? " " : key);
        if (match === undefined) remembering.leave();
        else remembering.setMatch(match);
      }
      return true;
    },
    begins(): void {
      note = undefined;
    },
    /** The match as edited so far, and what is known about it. */
    lines(columns: number): { match: Line; about: Line[] } | undefined {
      const state = remembering.current();
      return state && { match: matchLine(state, columns), about: aboutLines(state, note, columns) };
    },
    /** Both in one row, for a screen without more room. */
    line(columns: number): Line | undefined {
      const state = remembering.current();
      return state && oneLine(state, note, columns);
    },
  };
}
