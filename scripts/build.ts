import { mkdir, mkdtemp, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };

const root = join(import.meta.dir, "..");
const dist = join(root, "dist");
const binary = join(dist, "plexus");

/** Without the last two the binary would run and read what lies in the directory where it is started. */
const FLAGS = [
  "--compile",
  "--minify",
  "--bytecode",
  "--format=esm",
  "--sourcemap",
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-dotenv",
];

const startedAt = new Date();
await mkdir(dist, { recursive: true });
const workshop = await mkdtemp(join(dist, ".build-"));
try {
  const draft = join(workshop, "plexus");
  run(process.execPath, "build", join(root, "src", "main.ts"), ...FLAGS, "--outfile", draft);
  const version = run(draft, "--version").trim();
  if (version !== manifest.version) throw new Error(`the new binary says "${version}" for ${manifest.version}`);
  // As old as what went into it: a source that was changed meanwhile is newer.
  await utimes(draft, startedAt, startedAt);
  // In one step, since another process may be running the old one or building too.
  await rename(draft, binary);
} finally {
  await rm(workshop, { recursive: true, force: true });
}
console.log(`dist/plexus ${manifest.version}, ${(Bun.file(binary).size / 1e6).toFixed(0)} MB`);

function run(command: string, ...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([command, ...args], { cwd: root, stdin: "ignore" });
  if (exitCode === 0) return stdout.toString();
  throw new Error(`${command} ${args.join(" ")} failed (${exitCode}):\n${stdout}${stderr}`);
}
