import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { approvalQueries } from "../../../src/storage/sqlite/approvals/approvals.ts";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import { createOrm } from "../../../src/storage/sqlite/statements/orm.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { newApproval } from "../rows.ts";
import { temporaryDirect } from "./support/direct.ts";
import { unchainedOutcome } from "./support/sqlite-rows.ts";

const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);

describe("approvals.create", () => {
  test("stores the input unchanged: no key is dropped, renamed or reordered", async () => {
    await using storage = await temporaryDirect();
    const text = '{"z":1,"a":{"__proto__":{"x":null},"":[{},[],"\\u0000\\ud800"]},"1":1e400,"n":-0.5}';
    const approval = newApproval({ input: JSON.parse(text) });
    await storage.write(() => storage.approvals.create(approval));
    expect(JSON.stringify(storage.approvals.get(approval.id)?.input)).toBe(JSON.stringify(JSON.parse(text)));
  });

  test("files every approval as pending, without a decision", async () => {
    await using storage = await temporaryDirect();
    const { id } = await storage.write(() => storage.approvals.create(newApproval()));
    const undecided = { status: "pending", resolvedAt: null, resolvedBy: null, updatedInput: null };
    expect(storage.approvals.get(id)).toMatchObject(undecided);
  });

  test("refuses a second approval for the same request, unless the first was abandoned", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const first = newApproval({ toolUseId: "toolu_1" });
    await write(() => approvals.create(first));
    await expect(write(() => approvals.create(newApproval({ toolUseId: "toolu_1" })))).rejects.toThrow("UNIQUE");
    await write(() => approvals.settleIfPending(first.id, unchainedOutcome({ status: "abandoned" })));
    await write(() => approvals.create(newApproval({ toolUseId: "toolu_1" })));
  });
});

describe("approvals.settleIfPending", () => {
  test("decides once: the second decision returns nothing and changes nothing", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const { id } = await write(() => approvals.create(newApproval()));
    const edited = unchainedOutcome({
      updatedInput: { command: "false" },
      responseMessage: "edited",
      interrupt: false,
    });
    await write(() => approvals.settleIfPending(id, edited));
    const first = approvals.get(id);
    expect(first).toMatchObject(edited);
    const late = unchainedOutcome({ status: "denied", resolvedBy: "token:late", interrupt: true, resolvedAt: 9_000 });
    expect(await write(() => approvals.settleIfPending(id, late))).toBeUndefined();
    expect(approvals.get(id)).toEqual(first);
  });

  test("does nothing to an approval that does not exist", async () => {
    await using storage = await temporaryDirect();
    expect(await storage.write(() => storage.approvals.settleIfPending("none", unchainedOutcome()))).toBeUndefined();
  });

  test("lets only one of two connections decide when both saw the approval pending", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "plexus.db");
    using one = openDatabase(path);
    using two = openDatabase(path);
    const [first, second] = [approvalQueries(createOrm(one)), approvalQueries(createOrm(two))];
    for (let round = 0; round < 20; round++) {
      const { id } = first.create(newApproval(), null);
      expect([first.get(id)?.status, second.get(id)?.status]).toEqual(["pending", "pending"]);
      const [early, late] = round % 2 ? [first, second] : [second, first];
      expect(early.settleIfPending(id, unchainedOutcome({ resolvedBy: "early" }))?.resolvedBy).toBe("early");
      expect(late.settleIfPending(id, unchainedOutcome({ status: "denied", resolvedBy: "late" }))).toBeUndefined();
      expect(late.get(id)).toMatchObject({ status: "allowed", resolvedBy: "early" });
    }
  });
});

describe("a page of approvals", () => {
  const MEGABYTE = 1024 * 1024;

  test("holds a few megabytes at most, and says that there is more", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const large = { content: "x".repeat(1.5 * MEGABYTE) };
    for (const id of ["1", "2", "3", "4"])
      await write(() => approvals.create(newApproval({ id, toolUseId: id, input: large })));
    const pending = approvals.listPending({}, 100);
    expect({ ids: ids(pending.rows), hasMore: pending.hasMore }).toEqual({ ids: ["1", "2"], hasMore: true });
    const newest = approvals.list({}, { limit: 100 });
    expect({ ids: ids(newest.rows), hasMore: newest.hasMore }).toEqual({ ids: ["4", "3"], hasMore: true });
    expect(ids(approvals.list({}, { cursor: "3", limit: 100 }).rows)).toEqual(["2", "1"]);
  });

  test("holds its first approval however large that is", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const input = { content: "x".repeat(6 * MEGABYTE) };
    for (const id of ["1", "2"]) await write(() => approvals.create(newApproval({ id, toolUseId: id, input })));
    expect(ids(approvals.listPending({}, 100).rows)).toEqual(["1"]);
  });
});

describe("approvals.listPending", () => {
  test("lists the approvals of one session, of one owner, or all, oldest first", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const filed = await write(() =>
      ["a", "b", "a", "c", "b", "a"].map((sessionId) => {
        const owner = sessionId === "a" ? "operator" : "token:1";
        return approvals.create(newApproval({ sessionId, owner, expiresAt: 1_000 * Math.random() }));
      }),
    );
    const pick = (...positions: number[]) => positions.map((position) => filed[position]?.id ?? "");
    expect(ids(approvals.listPending({}, 100).rows)).toEqual(pick(0, 1, 2, 3, 4, 5));
    expect(ids(approvals.listPending({ sessionId: "a" }, 100).rows)).toEqual(pick(0, 2, 5));
    expect(ids(approvals.listPending({ owner: "token:1" }, 100).rows)).toEqual(pick(1, 3, 4));
    expect(ids(approvals.listPending({ owner: "token:1", sessionId: "b" }, 100).rows)).toEqual(pick(1, 4));
    expect(ids(approvals.listPending({ owner: "operator", sessionId: "b" }, 100).rows)).toEqual([]);
    expect(ids(approvals.listPending({}, 2).rows)).toEqual(pick(0, 1));
  });

  test("leaves out decided approvals", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const [first, second] = await write(() => [approvals.create(newApproval()), approvals.create(newApproval())]);
    await write(() => approvals.settleIfPending(first?.id ?? "", unchainedOutcome()));
    expect(ids(approvals.listPending({}, 100).rows)).toEqual(ids([second ?? { id: "" }]));
    expect([...approvals.pendingIds()]).toEqual(ids([second ?? { id: "" }]));
    expect(approvals.countPending("session-1")).toBe(1);
  });
});

describe("approvals.list", () => {
  test("lists every approval once, newest first, for any page size", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const filed = await write(() => Array.from({ length: 23 }, () => approvals.create(newApproval())));
    await write(() => filed.slice(0, 12).map(({ id }) => approvals.settleIfPending(id, unchainedOutcome())));
    for (const [status, wanted] of [
      [undefined, filed],
      ["pending", filed.slice(12)],
    ] as const) {
      const seen: string[] = [];
      for (let cursor: string | undefined; ; cursor = seen.at(-1)) {
        const page = approvals.list({ owner: "operator" }, { status, cursor, limit: 5 }).rows;
        seen.push(...ids(page));
        if (page.length < 5) break;
      }
      expect(seen).toEqual(ids([...wanted]).reverse());
    }
  });
});

describe("approvals.dueIds", () => {
  test("finds pending approvals past their deadline, the longest overdue first", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const at = (expiresAt: number) => approvals.create(newApproval({ id: `at-${expiresAt}`, expiresAt }));
    await write(() => [at(300), at(100), at(200), at(150), at(201)]);
    await write(() => approvals.settleIfPending("at-150", unchainedOutcome()));
    expect(approvals.dueIds(200, 10)).toEqual(["at-100", "at-200"]);
    expect(approvals.dueIds(200, 1)).toEqual(["at-100"]);
    expect(approvals.dueIds(99, 10)).toEqual([]);
    expect(approvals.nextDeadline()).toBe(100);
  });

  test("returns no next deadline when nothing is pending", async () => {
    await using storage = await temporaryDirect();
    expect(storage.approvals.nextDeadline()).toBeUndefined();
  });
});

describe("approvals.removeUnchainedBefore", () => {
  test("removes approvals decided before the given time, up to the limit, and never a pending one", async () => {
    await using storage = await temporaryDirect();
    const { approvals, write } = storage;
    const filed = await write(() =>
      Array.from({ length: 10 }, (_, number) => approvals.create(newApproval({ id: `${number}`, createdAt: 0 }))),
    );
    await write(() =>
      filed
        .slice(0, 7)
        .map(({ id }, number) => approvals.settleIfPending(id, unchainedOutcome({ resolvedAt: number * 10 }))),
    );
    expect(await write(() => approvals.removeUnchainedBefore(50, 3))).toBe(3);
    expect(await write(() => approvals.removeUnchainedBefore(50, 3))).toBe(2);
    expect(await write(() => approvals.removeUnchainedBefore(50, 3))).toBe(0);
    expect(ids(approvals.list({}, { limit: 100 }).rows).sort()).toEqual(["5", "6", "7", "8", "9"]);
    expect(await write(() => approvals.removeUnchainedBefore(Number.MAX_SAFE_INTEGER, 100))).toBe(2);
    expect(ids(approvals.listPending({}, 100).rows)).toEqual(["7", "8", "9"]);
  });
});
