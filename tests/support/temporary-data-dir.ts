import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary.ts";

type Template = { database: Buffer; id: string };

let template: Template | undefined;

/**
 * A data dir with the empty database that a first start creates. Creating it takes half of a start and is always the
 * same.
 */
export async function temporaryDataDir(): Promise<TemporaryDirectory> {
  const directory = await temporaryDirectory();
  template ??= makeTemplate();
  const database = Buffer.from(template.database);
  const id = crypto.randomUUID().replaceAll("-", "");
  for (let at = database.indexOf(template.id); at >= 0; at = database.indexOf(template.id, at)) database.write(id, at);
  writeFileSync(join(directory.path, "plexus.db"), database, { mode: 0o600 });
  return directory;
}

function makeTemplate(): Template {
  const directory = mkdtempSync(join(tmpdir(), "plexus-template-"));
  try {
    const path = join(directory, "plexus.db");
    const sqlite = openDatabase(path);
    const { id } = sqlite.query<{ id: string }, []>("SELECT id FROM data_dir").get() ?? { id: "" };
    // Moves everything from the write-ahead log into the file.
    sqlite.close(true);
    return { database: readFileSync(path), id };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
