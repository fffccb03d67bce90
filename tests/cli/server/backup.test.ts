import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newApproval } from "../../storage/rows.ts";
import { canMountSmallDisk, smallDisk } from "../../storage/sqlite/data-dir/small-disk.ts";
import { openDirect } from "../../storage/sqlite/support/direct.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { plexus } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(120_000);

describe("plexus backup under load", () => {
  const ROUNDS = 3;

  test("has every decision that was answered before it began, and each with its event", async () => {
    await using place = await openPlace();
    const answered: string[] = [];
    const load = decideUntilStopped(place, answered);
    for (let round = 0; round < ROUNDS; round++) {
      const file = join(place.scratch, `${round}.db`);
      const before = [...answered];
      expect(await place.plexus(["backup", file])).toMatchObject({ exitCode: 0, stderr: "" });
      using copy = new Database(file, { readonly: true });
      expect(copy.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      const decided = idsIn(copy, "SELECT id FROM loopback_approvals WHERE status = 'allowed'");
      const told = idsIn(copy, "SELECT subject_id AS id FROM changes WHERE kind = 'approval_resolved'");
      expect(before.filter((id) => !decided.includes(id))).toEqual([]);
      expect(told).toEqual(decided);
    }
    expect(await load.stop()).toBeGreaterThan(0);
  });
});

describe("plexus backup", () => {
  test.each(["000", "277"])("makes a file for its owner alone under the umask %s, and says how large it is", (mask) =>
    withoutServer(async ({ dataDir, target, folder }) => {
      const program = ["sh", "-c", `umask ${mask}; exec "$0" "$@"`, ...PROGRAM];
      const { stdout } = await plexus(["backup", target, "--data-dir", dataDir, "--json"], { program });
      expect(JSON.parse(stdout)).toEqual({ type: "ok", file: target, bytes: statSync(target).size });
      expect((statSync(target).mode & 0o777).toString(8)).toBe("600");
      expect(readdirSync(folder).sort()).toEqual(["backup.db", "data"]);
    }),
  );

  test("works without a server, and changes nothing", () =>
    withoutServer(async ({ dataDir, target }) => {
      const before = readFileSync(join(dataDir, "plexus.db"));
      expect(await backUp(target, dataDir)).toMatchObject({ exitCode: 0 });
      expect(readFileSync(join(dataDir, "plexus.db"))).toEqual(before);
      using copy = new Database(target, { readonly: true });
      expect(idsIn(copy, "SELECT id FROM loopback_approvals")).toHaveLength(1);
    }));

  test("never replaces a file, unless told to", () =>
    withoutServer(async ({ dataDir, target }) => {
      writeFileSync(target, "mine");
      expect(await refusalOf(target, dataDir)).toMatch(/is there already: choose another name, or add --force/);
      expect(readFileSync(target, "utf8")).toBe("mine");
      expect(await backUp(target, dataDir, "--force")).toMatchObject({ exitCode: 0 });
      using _ = new Database(target, { readonly: true });
    }));

  test("replaces nothing but a plain file", () =>
    withoutServer(async ({ dataDir, target }) => {
      symlinkSync(join(dataDir, "plexus.db"), target);
      expect(await refusalOf(target, dataDir, "--force")).toMatch(/is not a plain file/);
      expect(statSync(join(dataDir, "plexus.db")).size).toBeGreaterThan(0);
    }));

  test("refuses the data dir itself, by any of its names", () =>
    withoutServer(async ({ dataDir, folder }) => {
      expect(await refusalOf(join(dataDir, "plexus.db"), dataDir, "--force")).toMatch(/lies in the data dir/);
      symlinkSync(dataDir, join(folder, "other-name"));
      expect(await refusalOf(join(folder, "other-name/copy.db"), dataDir)).toMatch(/lies in the data dir/);
    }));

  test("says that the directory is not there", () =>
    withoutServer(async ({ dataDir, folder }) => {
      const file = join(folder, "missing", "backup.db");
      expect(await refusalOf(file, dataDir)).toMatch(/can't be written: no such file or directory/);
    }));

  test("says that there is no database, and makes none", async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, "empty");
    mkdirSync(dataDir);
    expect(await refusalOf(join(directory.path, "backup.db"), dataDir)).toMatch(
      /There is no plexus\.db in .*--data-dir/,
    );
    expect([readdirSync(dataDir), readdirSync(directory.path)]).toEqual([[], ["empty"]]);
  });

  test("keeps an earlier backup when the database is damaged", () =>
    withoutServer(async ({ dataDir, target, folder }) => {
      writeFileSync(target, "an earlier backup");
      damage(join(dataDir, "plexus.db"));
      expect(await refusalOf(target, dataDir, "--force")).toMatch(/damaged|malformed/);
      expect(readFileSync(target, "utf8")).toBe("an earlier backup");
      expect(readdirSync(folder).sort()).toEqual(["backup.db", "data"]);
    }));

  test.skipIf(!canMountSmallDisk())("says that the disk it is to lie on is full, and leaves nothing there", () =>
    withoutServer(async ({ dataDir }) => {
      using disk = smallDisk("64k");
      expect(await refusalOf(join(disk.path, "backup.db"), dataDir)).toMatch(/disk that is to hold the backup is full/);
      expect(readdirSync(disk.path)).toEqual([]);
    }),
  );
});

type Folder = { folder: string; dataDir: string; target: string };

/** A data dir with one request in it, without a server. */
async function withoutServer(body: (place: Folder) => Promise<void>): Promise<void> {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, "data");
  {
    using direct = openDirect(dataDir);
    direct.approvals.create(newApproval());
  }
  await body({ folder: directory.path, dataDir, target: join(directory.path, "backup.db") });
}

function backUp(file: string, dataDir: string, ...flags: string[]) {
  return plexus(["backup", file, "--data-dir", dataDir, ...flags]);
}

async function refusalOf(file: string, dataDir: string, ...flags: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await backUp(file, dataDir, ...flags);
  expect({ exitCode, stdout, lines: stderr.trim().split("\n").length }).toEqual({ exitCode: 1, stdout: "", lines: 1 });
  return stderr;
}

/** Overwrites everything after the first page, which alone is read on opening. */
function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4096, bytes.length);
  chmodSync(path, 0o600);
  writeFileSync(path, bytes);
}

function idsIn(database: Database, sql: string): string[] {
  return database
    .query<{ id: string }, []>(sql)
    .all()
    .map(({ id }) => id)
    .sort();
}

/** Makes and allows requests as fast as possible, a few at a time. */
function decideUntilStopped(place: Place, answered: string[]): { stop(): Promise<number> } {
  let isStopped = false;
  const worker = async (name: string) => {
    const session = await place.session(name);
    while (!isStopped) {
      const { id, answer } = await place.ask(session, "Bash", { command: "x".repeat(2_000) });
      await place.call("loopback_respond", { approval_id: id, approve: true });
      answered.push(id);
      await answer;
    }
  };
  const workers = Promise.all(["a", "b", "c", "d"].map(worker));
  return {
    async stop() {
      isStopped = true;
      await workers;
      return answered.length;
    },
  };
}
