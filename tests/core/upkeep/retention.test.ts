import { describe, expect, test } from "bun:test";
import type { ApprovalStatus } from "../../../src/contract/approvals/approval.ts";
import { newApproval, newToken } from "../../storage/rows.ts";
import { unchainedOutcome } from "../../storage/sqlite/support/sqlite-rows.ts";
import { allow, OPERATOR, stoppedClock, type TemporaryCore, temporaryCore } from "../open-core.ts";

const DAY_MS = 86_400_000;
const clock = stoppedClock();
const daysAgo = (days: number) => clock.now() - days * DAY_MS;

describe("retention.sweep", () => {
  test("removes decisions of every kind from before the retention time, and keeps the rest", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 30 });
    for (const status of ["allowed", "denied", "timed_out", "abandoned"] as const) {
      await file(core, { id: `old-${status}`, status, at: daysAgo(31) });
      await file(core, { id: `new-${status}`, status, at: daysAgo(29) });
    }
    await core.retention.sweep();
    expect(kept(core).sort()).toEqual(["new-abandoned", "new-allowed", "new-denied", "new-timed_out"]);
  });

  test("never removes a pending approval, however old", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 0 });
    core.direct.write(() => core.direct.approvals.create(newApproval({ id: "ancient", createdAt: 0 })));
    await core.retention.sweep();
    expect(kept(core)).toEqual(["ancient"]);
  });

  test("removes old changes too", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 30 });
    const { changes, write } = core.direct;
    const told = { kind: "approval_requested", owner: "operator", sessionId: "s", subjectId: "a" } as const;
    write(() => [40, 31, 29, 1].map((days) => changes.append({ ...told, at: daysAgo(days) })));
    await core.retention.sweep();
    expect(changes.listAfter(0, undefined, 10).map(({ at }) => at)).toEqual([daysAgo(29), daysAgo(1)]);
  });

  test("removes readers unused for the retention time, but never the start position of an upgrade", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 30 });
    const by = { most: 10, ownerToken: undefined };
    for (const days of [31, 29]) {
      const reader = { owner: "operator", consumer: `${days}` };
      await core.storage.readers.advance(reader, 1, { ...by, now: daysAgo(days) });
    }
    await core.retention.sweep();
    const left = core.direct.sqlite.query("SELECT owner, consumer FROM readers ORDER BY owner").values();
    expect(left).toEqual([
      ["", ""],
      ["operator", "29"],
    ]);
  });

  test("removes the tokens of pages after 30 days, whatever the retention time, and no other token", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 0 });
    const { tokens, write } = core.direct;
    const made = { old: 31, new: 29 };
    write(() => {
      for (const [age, days] of Object.entries(made)) {
        tokens.createIfNameFree(newToken({ id: `web-${age}`, kind: "web", name: null, createdAt: daysAgo(days) }));
      }
      tokens.createIfNameFree(newToken({ id: "named", kind: "named", createdAt: daysAgo(400) }));
    });
    await core.retention.sweep();
    const isKept = (id: string) => tokens.get(id) !== undefined;
    expect(["web-old", "web-new", "named"].map(isKept)).toEqual([false, true, true]);
  });

  test("works in batches, between which decisions are committed", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 30 });
    const { approvals, write } = core.direct;
    write(() => {
      for (let count = 0; count < 3_000; count++) {
        const { id } = approvals.create(newApproval());
        approvals.settleIfPending(id, unchainedOutcome({ resolvedAt: daysAgo(31) }));
      }
    });
    using ask = await core.ask(await core.session());
    const sweeping = core.retention.sweep();
    const decided = await core.approvals.decide(OPERATOR, ask.approvalId, allow);
    const leftAtDecision = approvals.list({}, { limit: 10_000 }).rows.length;
    await sweeping;
    expect(decided.type).toBe("ok");
    expect(leftAtDecision).toBeGreaterThan(1);
    expect(kept(core)).toEqual([ask.approvalId]);
  });

  test("stops between two batches when the server stops", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 30 });
    const { approvals, write } = core.direct;
    write(() => {
      for (let count = 0; count < 1_600; count++) {
        const { id } = approvals.create(newApproval());
        approvals.settleIfPending(id, unchainedOutcome({ resolvedAt: daysAgo(31) }));
      }
    });
    const sweeping = core.retention.sweep();
    core.retention[Symbol.dispose]();
    await sweeping;
    expect(kept(core)).toHaveLength(1_100);
  });
});

async function file(core: StoredRows, given: { id: string; status: Exclude<ApprovalStatus, "pending">; at: number }) {
  core.direct.write(() => {
    core.direct.approvals.create(newApproval({ id: given.id }));
    core.direct.approvals.settleIfPending(given.id, unchainedOutcome({ status: given.status, resolvedAt: given.at }));
  });
}

function kept(core: StoredRows): string[] {
  return core.direct.approvals.list({}, { limit: 10_000 }).rows.map(({ id }) => id);
}

type StoredRows = Pick<TemporaryCore, "direct">;
