import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DataDirInUse, openDatabase, openStorage } from "../../../../src/storage/sqlite/database.ts";
import { isRunning } from "../../../support/processes/processes.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../support/temporary.ts";
import { until } from "../../../support/until.ts";
import { ANY_NUMBER, ANY_PENDING, newApproval, newSession, UNRULED } from "../../rows.ts";
import { refusalOf, rejectionOf } from "../support/refusal.ts";

const open = (path: string) => openStorage(path, () => {});

describe("the data dir", () => {
  test("is readable only by its owner, and so is every file in it", async () => {
    await using parent = await temporaryDirectory();
    const dataDir = join(parent.path, "deep", "down");
    using storage = open(dataDir);
    await storage.approvals.file(newApproval(), ANY_PENDING, UNRULED);
    const { ".": own, ...files } = modesIn(dataDir);
    expect(own).toBe("700");
    expect(Object.keys(files)).toContain("plexus.db-wal");
    expect(new Set(Object.values(files))).toEqual(new Set(["600"]));
  });

  test.each(["000", "022", "277", "777"])("has the same modes under the umask %s", async (mask) => {
    await using parent = await temporaryDirectory();
    const dataDir = join(parent.path, "data");
    const before = process.umask(Number.parseInt(mask, 8));
    try {
      using storage = open(dataDir);
      await storage.approvals.file(newApproval(), ANY_PENDING, UNRULED);
      const { ".": own, ...files } = modesIn(dataDir);
      expect(own).toBe("700");
      expect(new Set(Object.values(files))).toEqual(new Set(["600"]));
    } finally {
      process.umask(before);
    }
  });

  test("loses the permissions of other users", async () => {
    await using directory = await temporaryDirectory();
    open(directory.path)[Symbol.dispose]();
    chmodSync(directory.path, 0o777);
    for (const file of readdirSync(directory.path)) chmodSync(join(directory.path, file), 0o666);
    using _ = open(directory.path);
    expect(modesIn(directory.path)).toMatchObject({ ".": "700", "lock.db": "600", "plexus.db": "600" });
  });

  test("that is a file is refused, and the file is kept", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "file");
    writeFileSync(file, "mine");
    expect(refusalOf(() => open(file))).toMatch(/data dir .*file.* can't be used .*--data-dir/);
    expect(await Bun.file(file).text()).toBe("mine");
  });

  test("whose database is a directory is refused", async () => {
    await using directory = await temporaryDirectory();
    mkdirSync(join(directory.path, "plexus.db"));
    expect(refusalOf(() => open(directory.path))).toContain("plexus.db can't be opened: check that it is a file");
  });

  test("has no open file after it is closed", async () => {
    await using directory = await temporaryDirectory();
    const storage = open(directory.path);
    await storage.approvals.file(newApproval(), ANY_PENDING, UNRULED);
    await storage.approvals.listPending({}, 10);
    storage[Symbol.dispose]();
    expect(readdirSync(directory.path).sort()).toEqual(["lock.db", "plexus.db"]);
    if (process.platform === "linux") expect(openFilesIn(directory.path)).toEqual([]);
  });

  test("has no open file after it could not be opened", async () => {
    await using directory = await temporaryDirectory();
    writeFileSync(join(directory.path, "plexus.db"), "x".repeat(4096));
    refusalOf(() => open(directory.path));
    if (process.platform === "linux") expect(openFilesIn(directory.path)).toEqual([]);
    using _ = lockable(directory.path);
  });
});

describe("openDatabase", () => {
  test("opens a connection with a write-ahead log that syncs every commit", async () => {
    await using directory = await temporaryDirectory();
    using sqlite = openDatabase(join(directory.path, "plexus.db"));
    const pragma = (name: string) => Object.values(sqlite.query<object, []>(`PRAGMA ${name}`).get() ?? {})[0];
    const FULL = 2;
    expect(pragma("journal_mode")).toBe("wal");
    expect(pragma("synchronous")).toBe(FULL);
    expect(pragma("fullfsync")).toBe(1);
    expect(pragma("foreign_keys")).toBe(1);
  });
});

describe("one server per data dir", () => {
  test("refuses a second server in the same process, and the first continues", async () => {
    await using directory = await temporaryDirectory();
    using storage = open(directory.path);
    expect(() => open(directory.path)).toThrow(DataDirInUse);
    await storage.sessions.createIfNameFree(newSession(), "none", ANY_NUMBER);
    expect(() => open(directory.path)).toThrow(directory.path);
  });

  test("refuses a second server in another process, until kill -9 ends the first", async () => {
    await using directory = await temporaryDirectory();
    const holder = Bun.spawn([process.execPath, join(import.meta.dir, "hold-data-dir.ts"), directory.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const said = await holder.stdout.getReader().read();
      expect(Buffer.from(said.value ?? []).toString()).toBe("held\n");
      expect(() => open(directory.path)).toThrow(DataDirInUse);
    } finally {
      holder.kill("SIGKILL");
      await holder.exited;
    }
    await until("the end of the holder", () => !isRunning(holder.pid));
    using _ = open(directory.path);
  });

  test("starts the next server as soon as the first has closed, with everything that it wrote", async () => {
    await using directory = await temporaryDirectory();
    const approval = newApproval();
    {
      using first = open(directory.path);
      await first.approvals.file(approval, ANY_PENDING, UNRULED);
    }
    using second = open(directory.path);
    const { isInTurn: _, ...stored } = approval;
    expect(await second.approvals.get(approval.id)).toMatchObject({ ...stored, status: "pending" });
  });
});

describe("storage after it was closed", () => {
  test("refuses to read and to write with a clear error", async () => {
    await using directory = await temporaryDirectory();
    const storage = open(directory.path);
    storage[Symbol.dispose]();
    expect(await rejectionOf(storage.approvals.get("x"))).toContain("Nothing was changed.");
    expect(await rejectionOf(storage.approvals.listPending({}, 1))).toContain("Nothing was changed.");
    await expect(storage.approvals.file(newApproval(), ANY_PENDING, UNRULED)).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });

  test("has committed the writes that were queued before", async () => {
    await using directory = await temporaryDirectory();
    const approval = newApproval();
    const storage = open(directory.path);
    const written = storage.approvals.file(approval, ANY_PENDING, UNRULED);
    storage[Symbol.dispose]();
    expect((await written).outcome).toBe("filed");
    using again = open(directory.path);
    expect(await again.approvals.get(approval.id)).toBeDefined();
  });
});

function modesIn(directory: TemporaryDirectory["path"]): Record<string, string> {
  const mode = (name: string) => (statSync(join(directory, name)).mode & 0o7777).toString(8);
  return Object.fromEntries([".", ...readdirSync(directory).sort()].map((name) => [name, mode(name)]));
}

function openFilesIn(directory: string): string[] {
  const targets = readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return targets.filter((target) => target.startsWith(directory));
}

/** Fails unless the lock of this data dir is free. */
function lockable(directory: string): Database {
  const lock = new Database(join(directory, "lock.db"));
  lock.run("BEGIN EXCLUSIVE");
  return lock;
}
