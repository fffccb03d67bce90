import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../../src/contract/refusals/errors.ts";
import { openStorage } from "../../../../src/storage/sqlite/database.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../support/temporary.ts";
import { newApproval, outcome } from "../../rows.ts";
import { openDirect } from "../support/direct.ts";
import { refusalOf, rejectionOf } from "../support/refusal.ts";
import { unchainedOutcome } from "../support/sqlite-rows.ts";

const PAGE_BYTES = 4096;
const open = (path: string) => openStorage(path, () => {});

describe("a database that can't be trusted", () => {
  test("from a newer version is refused and not modified", async () => {
    await using directory = await written();
    using sqlite = new Database(fileIn(directory));
    sqlite.run("INSERT INTO plexus_migrations VALUES ('9999_future', 0)");
    sqlite.close(true);
    const before = bytesOf(directory);
    expect(refusalOf(() => open(directory.path))).toContain("newer Plexus");
    expect(bytesOf(directory)).toEqual(before);
  });

  test("with a garbage header is refused and not modified", async () => {
    await using directory = await written();
    const bytes = bytesOf(directory);
    bytes.fill("garbage!", 0, 100);
    writeFileSync(fileIn(directory), bytes);
    expect(refusalOf(() => open(directory.path))).toContain("plexus.db is not a database");
    expect(bytesOf(directory)).toEqual(bytes);
  });

  test.each([PAGE_BYTES / 2, PAGE_BYTES, 3 * PAGE_BYTES, 10 * PAGE_BYTES + 17])(
    "cut off after %i bytes is refused, and not a byte of it changes",
    async (length) => {
      await using directory = await written();
      truncateSync(fileIn(directory), length);
      const before = bytesOf(directory);
      expect(refusalOf(() => open(directory.path))).toMatch(/damaged|not a database/);
      expect(bytesOf(directory)).toEqual(before);
    },
  );

  test("with a record that is not JSON is reported as damaged", async () => {
    await using directory = await written();
    using sqlite = new Database(fileIn(directory));
    sqlite.run("UPDATE loopback_approvals SET input = '{' WHERE id = 'pending-7'");
    sqlite.close(true);
    using storage = open(directory.path);
    expect(await rejectionOf(storage.approvals.get("pending-7"))).toContain("The database is damaged");
  });

  test("with any page overwritten answers correctly or refuses, and never turns a request into an allow", async () => {
    await using directory = await written();
    const sound = bytesOf(directory);
    const pages = sound.length / PAGE_BYTES;
    let refused = 0;
    for (let page = 1; page < pages; page++) {
      const bytes = Buffer.from(sound);
      bytes.fill(0xff, page * PAGE_BYTES + 3, page * PAGE_BYTES + PAGE_BYTES / 2);
      writeFileSync(fileIn(directory), bytes);
      refused += await refusalsOf(directory.path);
    }
    expect(pages).toBeGreaterThan(20);
    // Opening reads everything pending, so one refusal stands for many reads.
    expect(refused).toBeGreaterThan(pages / 2);
  });
});

/** Runs every read that could report an allow; counts the refusals. */
async function refusalsOf(path: string): Promise<number> {
  let refused = 0;
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof AppError) || cause.code !== "storage_unavailable") throw cause;
      refused++;
      return undefined;
    }
  };
  using storage = await attempt(() => open(path));
  if (!storage) return refused;
  const { approvals } = storage;
  for (let number = 0; number < 100; number += 3) {
    const [pending, denied] = [`pending-${number}`, `denied-${number}`];
    expect((await attempt(() => approvals.get(pending)))?.status).not.toBe("allowed");
    expect((await attempt(() => approvals.settleIfPending(denied, outcome(), undefined)))?.outcome).not.toBe("settled");
    expect((await attempt(() => approvals.get(denied)))?.status).not.toBe("allowed");
  }
  await attempt(() => approvals.listPending({}, 1000));
  await attempt(() => approvals.nextDeadline());
  return refused;
}

/** A closed data dir with a hundred pending and a hundred denied approvals. */
async function written(): Promise<TemporaryDirectory> {
  const directory = await temporaryDirectory();
  open(directory.path)[Symbol.dispose]();
  using storage = openDirect(directory.path);
  storage.write(() => {
    for (let number = 0; number < 100; number++) {
      const input = { command: "x".repeat(700) };
      storage.approvals.create(newApproval({ id: `pending-${number}`, input }));
      storage.approvals.create(newApproval({ id: `denied-${number}`, input }));
      storage.approvals.settleIfPending(`denied-${number}`, unchainedOutcome({ status: "denied" }));
    }
  });
  return directory;
}

function fileIn(directory: TemporaryDirectory): string {
  return join(directory.path, "plexus.db");
}

function bytesOf(directory: TemporaryDirectory): Buffer {
  return readFileSync(fileIn(directory));
}
