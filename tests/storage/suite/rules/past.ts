import { expect, test } from "bun:test";
import { outcome } from "../../rows.ts";
import { filed, type OpenForRaces, storedSession } from "../engine.ts";

const OUTLINE = { outlineKey: "one", outline: '{"isNamed":true}' };

/** What any engine promises of past requests, and of what is kept of them for rules. */
export function pastPromises(open: OpenForRaces): void {
  test("lists what was decided with the outline that was kept last, newest first", async () => {
    await using opened = await open();
    const { storage, connections } = opened;
    const session = await storedSession(storage);
    const [first, second, pending] = [
      await filed(storage, { sessionId: session.id }),
      await filed(storage, { sessionId: session.id, input: { command: "ls" } }),
      await filed(storage, { sessionId: session.id }),
    ];
    for (const { id } of [first, second]) await storage.approvals.settleIfPending(id, outcome(), undefined);
    await storage.past.keepOutlines([
      { id: first.id, ...OUTLINE },
      { id: pending.id, outlineKey: "one", outline: null },
    ]);
    await connections[1].past.keepOutlines([{ id: first.id, outlineKey: "two", outline: null }]);
    const query = { limit: 10 };
    expect(await storage.past.list(query)).toEqual([
      expect.objectContaining({ id: second.id, outlineKey: null, outline: null, status: "allowed" }),
      expect.objectContaining({ id: first.id, outlineKey: "two", outline: null, sessionId: session.id }),
    ]);
    expect((await storage.past.list({ ...query, withAll: true })).map(({ id }) => id)).toEqual(
      [pending, second, first].map(({ id }) => id),
    );
    expect(await storage.past.list({ ...query, before: second.id })).toHaveLength(1);
    expect(await storage.past.inputs([second.id, "gone"])).toEqual([{ id: second.id, inputText: '{"command":"ls"}' }]);
  });

  test("an outline goes with its request, and with its input, and is not kept of what is gone", async () => {
    await using opened = await open();
    const { storage } = opened;
    const session = await storedSession(storage);
    const input = { command: "x".repeat(5_000) };
    const [cut, forgotten] = [
      await filed(storage, { sessionId: session.id, input }),
      await filed(storage, { sessionId: session.id }),
    ];
    await storage.audit.begin(1);
    await storage.approvals.settleIfPending(cut.id, outcome({ status: "denied" }), undefined);
    await storage.past.keepOutlines([cut, forgotten].map(({ id }) => ({ id, ...OUTLINE })));
    expect(await storage.audit.cutInputs(cut.owner, 1e9, 10, 3_000)).toBe(1);
    await storage.past.keepOutlines([
      { id: cut.id, ...OUTLINE },
      { id: "gone", ...OUTLINE },
    ]);
    const kept = async () => (await storage.past.list({ withAll: true, limit: 10 })).map(({ outline }) => outline);
    expect(await kept()).toEqual([OUTLINE.outline, null]);
    await storage.approvals.settleIfPending(forgotten.id, outcome({ status: "denied" }), undefined);
    await storage.audit.forgetBefore("decisions", 1e9, 10, 3_000);
    expect(await kept()).toEqual([]);
  });
}
