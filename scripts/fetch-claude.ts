/** Fetches only the executable of the Claude Code version that the lockfile pins, for the image that contains it. */
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { ROOT } from "./run.ts";

const Entry = z.looseObject({ version: z.string(), integrity: z.string() });
const Lockfile = z.object({ packages: z.record(z.string(), z.unknown()) });

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error("bun scripts/fetch-claude.ts FILE");
const name = `@anthropic-ai/claude-code-linux-${process.arch}`;
const { packages } = Lockfile.parse(JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")));
const { version, integrity } = Entry.parse(packages[`node_modules/${name}`]);

const workshop = await mkdtemp(join(tmpdir(), "plexus-claude-"));
try {
  await writeFile(join(workshop, "package.json"), JSON.stringify({ dependencies: { [name]: version } }));
  const install = Bun.spawnSync([process.execPath, "install", "--ignore-scripts"], { cwd: workshop, stdin: "ignore" });
  if (install.exitCode !== 0) throw new Error(`${name}@${version} could not be fetched:\n${install.stderr}`);
  // Bun has checked the package against the registry's hash; check it against our lockfile too.
  const fetched = await readFile(join(workshop, "bun.lock"), "utf8");
  if (!fetched.includes(`"${integrity}"`)) throw new Error(`${name}@${version} is not what the lockfile knows.`);
  await copyFile(join(workshop, "node_modules", name, "claude"), target);
} finally {
  await rm(workshop, { recursive: true, force: true });
}
console.log(`${target}: Claude Code ${version} for ${process.arch}`);
