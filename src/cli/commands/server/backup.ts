import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { copyDatabase } from "../../../storage/sqlite/backup.ts";
import { fileFailure, systemCode } from "../../server/file-failure.ts";
import { refuseUnfit } from "../../server/private-file.ts";
import { withSettings } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";

type Options = Flags & { force?: boolean; json?: true };

export function backupCommand(terminal: Terminal): Command {
  const command = new Command("backup").description("copy the database to a file, also while the server runs");
  return withSettings(command, ["dataDir"])
    .argument("<FILE>", "the file to make, for you alone to read")
    .option("--force", "replace FILE if it is there")
    .option("--json", "print JSON")
    .action((file: string, { force = false, json, ...flags }: Options) => {
      const { dataDir } = readConfig(flags);
      const path = resolve(file);
      const bytes = backUp(dataDir, path, force);
      if (json) return terminal.out(jsonText({ type: "ok", file: path, bytes }, terminal));
      terminal.out(`${path}, ${(bytes / 1e6).toFixed(1)} MB\n`);
    });
}

/** Writes the backup under a temporary name, and renames it when it is complete and on disk. Returns its size. */
function backUp(dataDir: string, path: string, force: boolean): number {
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  try {
    refuseDataDir(dataDir, path);
    refuseUnfit(path, force);
    makeEmpty(draft);
    copyDatabase(dataDir, draft);
    sync(draft);
    place(draft, path, force);
    sync(dirname(path));
    return lstatSync(path).size;
  } catch (cause) {
    throw fileFailure(`${path} can't be written`, cause);
  } finally {
    for (const end of ["", "-journal"]) rmSync(`${draft}${end}`, { force: true });
  }
}

/** Creates the file with access for its owner only, whatever the umask. */
function makeEmpty(path: string): void {
  const opened = openSync(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    fchmodSync(opened, 0o600);
  } finally {
    closeSync(opened);
  }
}

/** A backup in the data dir is lost with it, and its path could be that of the database itself. */
function refuseDataDir(dataDir: string, path: string): void {
  if (realpathSync(dirname(path)) !== (tryRealpath(dataDir) ?? dataDir)) return;
  throw new CommandFailed(`${path} lies in the data dir: choose a place that outlives it.`);
}

function tryRealpath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Unlike a rename, a link never replaces a file that someone else created meanwhile. */
function place(draft: string, path: string, force: boolean): void {
  if (force || !linked(draft, path)) renameSync(draft, path);
}

/** Some file systems have no links, for example those of memory sticks. */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (cause) {
    refuseUnfit(path, false);
    if (systemCode(cause) === undefined) throw cause;
    return false;
  }
}

function sync(path: string): void {
  const opened = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
