import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../../..");
/** Every source that affects how a call is judged, with the lock file for the parser. */
const SOURCES = [
  "src/core/rules",
  "src/core/rulebook",
  "src/core/approvals/context",
  "src/review",
  "src/files",
  "src/contract",
  "package-lock.json",
];

/**
 * A hash that changes with the matcher. It is computed as a macro during the build, because a lone binary has no
 * sources beside it.
 */
export function matcherVersion(): string {
  const hash = createHash("sha256");
  for (const file of SOURCES.flatMap(filesIn).sort()) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest("base64url").slice(0, 16);
}

function filesIn(source: string): string[] {
  const path = join(ROOT, source);
  if (statSync(path).isFile()) return [source];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(source, name));
}
