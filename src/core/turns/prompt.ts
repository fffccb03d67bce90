import type { Storage } from "../../storage/storage.ts";

export type PromptOf = ReturnType<typeof createPromptOf>;

/** Finds the prompt of a turn, also of a queued one. Ephemeral prompts are not kept once the turn has begun. */
export function createPromptOf({ storage }: { storage: Pick<Storage, "turns" | "conversations"> }) {
  return async (turnId: string): Promise<string | undefined> => {
    const [first] = await storage.turns.events(turnId, 0, 1);
    if (!first) return storage.turns.queuedPrompt(turnId);
    if (first.event.type !== "start" || first.event.user_position === null) return undefined;
    const text = (await storage.conversations.node(first.event.user_position))?.content["text"];
    return typeof text === "string" ? text : undefined;
  };
}
