import type { DeciderResult, SentDecision } from "../../client/deciding/decider.ts";
import { APPROVAL_OUTCOMES } from "../terminal/event-text.ts";
import type { Style } from "../terminal/terminal.ts";

type Words = { text: string; style: Style };

/** Messages about the result of a press; empty if it had no effect. */
export function wordsFor(result: DeciderResult, key = "a"): Words[] {
  switch (result.kind) {
    case "sent":
      return result.decisions.map(wordsForSent);
    case "armed":
      return [{ text: `Press ${key} again to allow it, although it ${result.reasons.join("; ")}.`, style: "yellow" }];
    case "too_soon":
    case "moved_on":
      return [];
  }
}

function wordsForSent({ approval, decision, result }: SentDecision): Words {
  const what = `${approval.tool_name} of ${approval.session_name}`;
  switch (result.kind) {
    case "decided":
      return decision.approve
        ? { text: `Allowed ${what}.`, style: "green" }
        : { text: `Denied ${what}.`, style: "red" };
    case "beaten": {
      const { status, by } = result.outcome;
      return { text: `Somebody was faster: ${what} ${APPROVAL_OUTCOMES[status].words(by)}.`, style: "yellow" };
    }
    case "failed":
      return { text: `Not decided: ${result.reason.message}`, style: "yellow" };
  }
}
