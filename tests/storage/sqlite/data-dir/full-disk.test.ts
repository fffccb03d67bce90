import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { approvalQueries } from "../../../../src/storage/sqlite/approvals/approvals.ts";
import { openDatabase, openStorage } from "../../../../src/storage/sqlite/database.ts";
import { createOrm } from "../../../../src/storage/sqlite/statements/orm.ts";
import { createWriter } from "../../../../src/storage/sqlite/writer.ts";
import { allow, OPERATOR, openCore } from "../../../core/open-core.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";
import { ANY_PENDING, newApproval, UNRULED } from "../../rows.ts";
import { refusalOf, rejectionOf } from "../support/refusal.ts";
import { unchainedOutcome } from "../support/sqlite-rows.ts";
import { canMountSmallDisk, smallDisk } from "./small-disk.ts";

const isSkipped = !canMountSmallDisk();
const note = isSkipped ? " (skipped: only root may mount a small disk)" : "";
const FULL = /disk that holds the data dir is full: free some space .*Nothing was changed/;

describe.skipIf(isSkipped)(`a full disk${note}`, () => {
  test("refuses a request, and accepts it once there is space", async () => {
    using disk = smallDisk("2m");
    using core = await openCore(disk.path);
    const session = await core.session();
    disk.fill();
    expect(await rejectionOf(core.ask(session))).toMatch(FULL);
    expect((await core.approvals.pending(OPERATOR, undefined, 10)).approvals).toEqual([]);
    disk.free();
    using ask = await core.ask(session);
    await core.approvals.decide(OPERATOR, ask.approvalId, allow);
    expect(await ask.answer()).toMatchObject({ behavior: "allow" });
  });

  test("refuses a decision, lets no call run, and accepts it once there is space", async () => {
    using disk = smallDisk("2m");
    using core = await openCore(disk.path);
    using ask = await core.ask(await core.session());
    const answer = ask.answer();
    disk.fill();
    expect(await rejectionOf(core.approvals.decide(OPERATOR, ask.approvalId, allow))).toMatch(FULL);
    expect((await core.approvals.get(OPERATOR, ask.approvalId)).status).toBe("pending");
    expect(Bun.peek.status(answer)).toBe("pending");
    disk.free();
    expect(await core.approvals.decide(OPERATOR, ask.approvalId, allow)).toMatchObject({ type: "ok" });
    expect(await answer).toMatchObject({ behavior: "allow" });
  });

  test("that fills up under load loses nothing that was acknowledged, and damages nothing", async () => {
    using disk = smallDisk("1536k");
    const acknowledged: string[] = [];
    {
      using core = await openCore(disk.path);
      const session = await core.session();
      const untilRefused = async () => {
        for (;;) {
          using ask = await core.ask(session, { input: { command: "x".repeat(2_000) } });
          await core.approvals.decide(OPERATOR, ask.approvalId, allow);
          acknowledged.push(ask.approvalId);
        }
      };
      const refusals = await Promise.all(Array.from({ length: 10 }, () => rejectionOf(untilRefused())));
      for (const refusal of refusals) expect(refusal).toMatch(FULL);
    }
    expect(acknowledged.length).toBeGreaterThan(10);
    await using copy = await temporaryDirectory();
    cpSync(disk.path, copy.path, { recursive: true });
    expect(integrityOf(copy.path)).toBe("ok");
    using storage = openStorage(copy.path, () => {});
    const rows = await Promise.all(acknowledged.map((id) => storage.approvals.get(id)));
    const statuses = rows.map((row) => row?.status);
    expect(new Set(statuses)).toEqual(new Set(["allowed"]));
  });

  test("is detected by assertWritable", async () => {
    using disk = smallDisk("2m");
    using storage = openStorage(disk.path, () => {});
    await storage.assertWritable();
    disk.fill();
    expect(await rejectionOf(storage.assertWritable())).toMatch(FULL);
    disk.free();
    await storage.assertWritable();
  });

  test("prevents a start, however little space is missing, until there is space", () => {
    using disk = smallDisk("2m");
    openStorage(disk.path, () => {})[Symbol.dispose]();
    for (const roomKb of [0, 4, 8, 12, 16]) {
      disk.fill(roomKb);
      expect(refusalOf(() => openStorage(disk.path, () => {}))).toMatch(FULL);
      disk.free();
    }
    using _ = openStorage(disk.path, () => {});
  });
});

describe.skipIf(isSkipped)(`a read-only disk${note}`, () => {
  test("prevents a start and keeps its data", async () => {
    using disk = smallDisk("2m");
    const approval = newApproval();
    {
      using storage = openStorage(disk.path, () => {});
      await storage.approvals.file(approval, ANY_PENDING, UNRULED);
    }
    disk.makeReadOnly();
    expect(refusalOf(() => openStorage(disk.path, () => {}))).toMatch(/can't be used .*read-only.*--data-dir/);
    await using copy = await temporaryDirectory();
    cpSync(disk.path, copy.path, { recursive: true });
    using storage = openStorage(copy.path, () => {});
    expect((await storage.approvals.get(approval.id))?.status).toBe("pending");
  });
});

/** Needs no separate disk: SQLite reports the same error when it may not grow the file. */
describe("a database that may not grow", () => {
  test("refuses what doesn't fit, keeps the existing rows, and accepts writes again once it may grow", async () => {
    await using directory = await temporaryDirectory();
    using sqlite = openDatabase(join(directory.path, "plexus.db"));
    const approvals = approvalQueries(createOrm(sqlite));
    const writer = createWriter(sqlite, () => {});
    const first = newApproval();
    await writer.write(() => approvals.create(first, null));
    const limit = (pages: number) => sqlite.run(`PRAGMA max_page_count = ${pages}`);
    limit(1);
    const huge = newApproval({ input: { command: "x".repeat(1_000_000) } });
    const edited = { updatedInput: { command: "x".repeat(1_000_000) } };
    expect(await rejectionOf(writer.write(() => approvals.create(huge, null)))).toMatch(FULL);
    expect(
      await rejectionOf(writer.write(() => approvals.settleIfPending(first.id, unchainedOutcome(edited)))),
    ).toMatch(FULL);
    expect(approvals.get(first.id)?.status).toBe("pending");
    limit(1_000_000);
    await writer.write(() => approvals.create(huge, null));
    await writer.write(() => approvals.settleIfPending(first.id, unchainedOutcome(edited)));
    expect(approvals.get(first.id)?.status).toBe("allowed");
    expect(sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  });
});

function integrityOf(dataDir: string): unknown {
  using sqlite = new Database(join(dataDir, "plexus.db"));
  return sqlite.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get()?.integrity_check;
}
