import type { DeciderResult, SentDecision } from "../../client/decider.ts";
import type { Style } from "../terminal/terminal.ts";

type Words = { text: string; style: Style };

/** What to tell the person of what came of their press; nothing where nothing has come of it. */
export function wordsFor(result: DeciderResult): Words[] {
  switch (result.kind) {
    case "sent":
      return result.decisions.map(wordsForSent);
    case "armed":
      return [{ text: `Press a again to allow it, although it ${result.reasons.join("; ")}.`, style: "yellow" }];
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
      return { text: `Somebody was faster: ${what} was ${status.replace("_", " ")} by ${by}.`, style: "yellow" };
    }
    case "failed":
      return { text: `Not decided: ${result.reason.message}`, style: "yellow" };
  }
}
