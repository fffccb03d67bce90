import type { Approval } from "../../../contract/approvals/approval.ts";
import { cutText } from "../../../contract/text/cut.ts";
import type { Storage } from "../../../storage/storage.ts";

const MAX_TASK_CHARS = 2_000;

/** Finds the task of a child that asks: the prompt of its turn. Ephemeral prompts are not kept. */
export function createTaskOf({ storage }: { storage: Pick<Storage, "approvals" | "turns" | "conversations"> }) {
  return async ({ id }: Pick<Approval, "id">): Promise<string | undefined> => {
    const asked = await storage.approvals.head(id);
    if (!asked || asked.askedSeq === null) return undefined;
    const [first] = await storage.turns.events(asked.askedIn, 0, 1);
    if (first?.event.type !== "start" || first.event.user_position === null) return undefined;
    const text = (await storage.conversations.node(first.event.user_position))?.content["text"];
    return typeof text === "string" ? cutText(text, MAX_TASK_CHARS) : undefined;
  };
}
