import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dir, "../../../drizzle");

/** Returns the files of `drizzle/` in order. Runs at bundling time, because the binary has no such folder beside it. */
export function embeddedMigrations(): { tag: string; sql: string }[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".sql"));
  return files.sort().map((name) => ({
    tag: name.slice(0, -".sql".length),
    sql: readFileSync(join(FOLDER, name), "utf8"),
  }));
}
