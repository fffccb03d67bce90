import { mkdir, mkdtemp, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { compile } from "./compile.ts";
import { ROOT, run } from "./run.ts";
import { commitId } from "./source-commit.ts";

const dist = join(ROOT, "dist");
const binary = join(dist, "plexus");

const startedAt = new Date();
await mkdir(dist, { recursive: true });
const workshop = await mkdtemp(join(dist, ".build-"));
try {
  const draft = join(workshop, "plexus");
  await compile({ outfile: draft, commit: commitId() });
  const version = run(draft, "--version").trim();
  if (version !== manifest.version) throw new Error(`the new binary says "${version}" for ${manifest.version}`);
  // Date the binary to the start of the build, so that a source changed meanwhile is newer.
  await utimes(draft, startedAt, startedAt);
  // Rename atomically, because another process may be running the old binary or building too.
  await rename(draft, binary);
} finally {
  await rm(workshop, { recursive: true, force: true });
}
console.log(`dist/plexus ${manifest.version}, ${(Bun.file(binary).size / 1e6).toFixed(0)} MB`);
