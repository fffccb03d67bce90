import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../../src/contract/routes/server.ts";
import { newApproval } from "../../storage/rows.ts";
import { openDirect } from "../../storage/sqlite/support/direct.ts";
import { startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { plexus } from "../support/command.ts";

setDefaultTimeout(60_000);

/** The test looks for a hang, not for slowness. */
const AT_ONCE_MS = 10_000;
const WEBHOOK = ["--webhook", "http://127.0.0.1:9/hook"];
const PAGE_BYTES = 4_096;
const GARBAGE = Buffer.from([0xff, 0x00, 0x1b, 0x5b, 0x33, 0x31, 0x6d, 0x0a, 0xfe]);

async function failedStart(dataDir: string, args: string[]) {
  const startedAt = performance.now();
  const { exitCode, stdout, stderr } = await plexus(["serve", "--port", "0", "--data-dir", dataDir, ...args]);
  return { exitCode, stdout, stderr, isPrompt: performance.now() - startedAt < AT_ONCE_MS };
}

const isDirectory = (path: string) => mkdirSync(path);
const isGarbage = (path: string) => writeFileSync(path, Buffer.alloc(PAGE_BYTES, GARBAGE));
const isShort = (path: string) => writeFileSync(path, "guess me\n");

describe("plexus serve ends at once, in one line that says what to do, when", () => {
  test.each([
    { file: "operator-token", what: "is a directory", spoil: isDirectory, says: /operator-token .*Remove the file/ },
    {
      file: "operator-token",
      what: "is garbage",
      spoil: isGarbage,
      says: /operator-token .*printable.*Remove the file/,
    },
    {
      file: "operator-token",
      what: "is short",
      spoil: isShort,
      says: /operator-token .*16 characters.*Remove the file/,
    },
    { file: "webhook-secret", what: "is a directory", spoil: isDirectory, says: /webhook-secret .*Remove the file/ },
    {
      file: "webhook-secret",
      what: "is garbage",
      spoil: isGarbage,
      says: /webhook-secret .*printable.*Remove the file/,
    },
    { file: "plexus.db", what: "is a directory", spoil: isDirectory, says: /plexus\.db can't be opened: check/ },
    { file: "plexus.db", what: "is garbage", spoil: isGarbage, says: /plexus\.db is not a database: .*backup/ },
    { file: "lock.db", what: "is a directory", spoil: isDirectory, says: /lock\.db can't be locked .*remove it/ },
    { file: "lock.db", what: "is garbage", spoil: isGarbage, says: /lock\.db can't be locked .*remove it/ },
    { file: "turns", what: "is a file", spoil: isGarbage, says: /turns can't be read .*Remove it/ },
    { file: "server.json", what: "is a directory", spoil: isDirectory, says: /is a directory \(\S+server\.json\)/ },
  ])("$file $what; and starts once that is gone", async ({ file, spoil, says }) => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, file);
    spoil(path);
    const { stderr, ...rest } = await failedStart(directory.path, WEBHOOK);
    expect(stderr).toMatch(/^plexus: [ -~]*\n$/);
    expect(stderr).toMatch(says);
    expect(rest).toEqual({ exitCode: 1, stdout: "", isPrompt: true });
    expect(readdirSync(directory.path).filter((name) => name.endsWith(".new") || name.endsWith("-wal"))).toEqual([]);
    rmSync(path, { recursive: true });
    await using server = await startServerProcess({ dataDir: directory.path, args: WEBHOOK });
    expect((await fetch(`${server.url}${isAlive.path}`)).status).toBe(200);
  });

  test.each(["approvals_pending_by_session", "approvals_pending_by_deadline"])(
    "the index %s of plexus.db is damaged",
    async (index) => {
      await using directory = await temporaryDirectory();
      await damage(directory.path, index);
      const { stderr, ...rest } = await failedStart(directory.path, []);
      expect(stderr).toMatch(/^plexus: The database is damaged: .*restore plexus\.db from a backup.*\n$/);
      expect(rest).toEqual({ exitCode: 1, stdout: "", isPrompt: true });
    },
  );

  test("the address is none of this machine", async () => {
    await using directory = await temporaryDirectory();
    for (const host of ["192.0.2.1", "no-such-host.invalid"]) {
      const { stderr, ...rest } = await failedStart(directory.path, ["--host", host]);
      expect(stderr).toMatch(/^plexus: Can't listen on \S+ [ -~]*Choose another with --host\.\n$/);
      expect(rest).toEqual({ exitCode: 1, stdout: "", isPrompt: true });
    }
    expect(readdirSync(directory.path)).not.toContain("plexus.db");
  });
});

/** A database with a pending request, and an unreadable index. */
async function damage(dataDir: string, index: string): Promise<void> {
  {
    using direct = openDirect(dataDir);
    direct.approvals.create(newApproval());
  }
  const path = join(dataDir, "plexus.db");
  using sqlite = new Database(path, { readonly: true });
  const found = sqlite.query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_schema WHERE name = ?");
  const at = ((found.get(index)?.rootpage ?? 0) - 1) * PAGE_BYTES;
  sqlite.close(true);
  writeFileSync(path, readFileSync(path).fill(0xff, at, at + PAGE_BYTES));
}
