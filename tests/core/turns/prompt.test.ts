import { expect, test } from "bun:test";
import { createPromptOf } from "../../../src/core/turns/prompt.ts";
import { ANY_NUMBER, newSession, runningTurn } from "../../storage/rows.ts";
import { temporaryStorage } from "../../storage/sqlite/support/temporary-storage.ts";

test("the prompt of a turn is told, but not an ephemeral one, or that of a turn that there is not", async () => {
  await using storage = await temporaryStorage();
  const promptOf = createPromptOf({ storage });
  const promptIn = async (ephemeral: boolean) => {
    const session = newSession({ kind: "managed", treeId: Bun.randomUUIDv7(), headNodeId: Bun.randomUUIDv7() });
    await storage.sessions.createIfNameFree({ ...session, name: session.id }, "new", ANY_NUMBER);
    const { id } = await runningTurn(storage, session, { ephemeral, prompt: "Make it." });
    return promptOf(id);
  };
  expect(await promptIn(false)).toBe("Make it.");
  expect(await promptIn(true)).toBeUndefined();
  expect(await promptOf("unknown")).toBeUndefined();
});
