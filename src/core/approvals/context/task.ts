import type { Approval } from "../../../contract/approvals/approval.ts";
import { cutText } from "../../../contract/text/cut-text.ts";
import type { Storage } from "../../../storage/storage.ts";
import type { PromptOf } from "../../turns/prompt.ts";

const MAX_TASK_CHARS = 2_000;

/** Finds the task of a child that asks: the prompt of its turn. */
export function createTaskOf({ storage, promptOf }: { storage: Pick<Storage, "approvals">; promptOf: PromptOf }) {
  return async ({ id }: Pick<Approval, "id">): Promise<string | undefined> => {
    const asked = await storage.approvals.head(id);
    if (!asked || asked.askedSeq === null) return undefined;
    const prompt = await promptOf(asked.askedIn);
    return prompt === undefined ? undefined : cutText(prompt, MAX_TASK_CHARS);
  };
}
