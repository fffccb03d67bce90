import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dir, "../../../drizzle");

/** The files of `drizzle/` in order; run while the program is bundled, since there is no folder beside a lone binary. */
export function embeddedMigrations(): { tag: string; sql: string }[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".sql"));
  return files.sort().map((name) => ({
    tag: name.slice(0, -".sql".length),
    sql: readFileSync(join(FOLDER, name), "utf8"),
  }));
}
