import type { Confirmation } from "../../client/confirmation.ts";
import type { Decisions } from "../../client/decisions.ts";
import type { InboxItem } from "../../client/inbox.ts";
import type { Review } from "../../client/reviews.ts";
import type { Decision } from "../../contract/approvals/approval.ts";
import type { JsonObject } from "../../contract/values.ts";
import type { Style } from "../terminal/terminal.ts";

export type Decider = ReturnType<typeof createDecider>;

type DeciderNeed = {
  confirmation: Confirmation;
  decisions: Decisions;
  /** Whether this one is still pending before the eyes of the person. */
  isCurrent: (id: string) => boolean;
  say: (text: string, style?: Style) => void;
  review: (item: InboxItem) => Promise<Review>;
};

/** Decisions by key: a dangerous request takes two presses, and nothing is decided that was not there to be seen. */
export function createDecider({ confirmation, decisions, isCurrent, say, review }: DeciderNeed) {
  async function send({ approval }: InboxItem, decision: Decision): Promise<void> {
    const what = `${approval.tool_name} of ${approval.session_name}`;
    const result = await decisions.send(approval, decision);
    confirmation.hesitate();
    switch (result.kind) {
      case "decided":
        return say(`${decision.approve ? "Allowed" : "Denied"} ${what}.`, decision.approve ? "green" : "red");
      case "beaten": {
        const { status, by } = result.outcome;
        return say(`Somebody was faster: ${what} was ${status.replace("_", " ")} by ${by}.`, "yellow");
      }
      case "failed":
        return say(`Not decided: ${result.reason.message}`, "yellow");
    }
  }

  const isOpen = (id: string) => isCurrent(id) && !decisions.isUnderWay(id);

  return {
    /** Allows it, with another input if there is one; at once, or when it was pressed again. */
    async allow(item: InboxItem, input: JsonObject | undefined): Promise<void> {
      const { id } = item.approval;
      if (decisions.isUnderWay(id)) return;
      const press = await confirmation.press({
        target: id,
        reasons: async () => (await review(item)).dangers.map(({ message }) => message),
        isCurrent: () => isOpen(id),
      });
      // A key that is held down never becomes a second press.
      if (press === "too_soon") return confirmation.hesitate();
      if (press === "confirmed") return send(item, { approve: true, updated_input: input });
      const reasons = confirmation.armed()?.reasons ?? [];
      if (press === "armed") say(`Press a again to allow it, although it ${reasons.join("; ")}.`, "yellow");
    },

    /** Allows a question with the answers that were chosen for it; that runs nothing, so it takes one press. */
    async answer(item: InboxItem, input: JsonObject): Promise<void> {
      if (confirmation.isTooSoon()) return confirmation.hesitate();
      if (isOpen(item.approval.id)) await send(item, { approve: true, updated_input: input });
    },

    async deny(item: InboxItem, reason: string): Promise<void> {
      if (decisions.isUnderWay(item.approval.id)) return;
      await send(item, { approve: false, message: reason || undefined });
    },
  };
}
