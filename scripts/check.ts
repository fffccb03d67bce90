import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { staleDocs } from "./docs/generated.ts";
import { leaksIn } from "./testing/leaks.ts";

const root = join(import.meta.dir, "..");
const bin = join(root, "node_modules", ".bin");

/** Each step returns its problems; it passes if there are none. */
const STEPS: Record<string, () => Promise<string[]>> = {
  types: () => quietly(join(bin, "tsc"), "-p", "."),
  "types of the page": () => quietly(join(bin, "tsc"), "-p", "src/web"),
  "types of its worker": () => quietly(join(bin, "tsc"), "-p", "src/web/worker"),
  "lint, layers and format": () => quietly(join(bin, "biome"), "ci", "--error-on-warnings", "--colors=off", "."),
  "migrations match the tables": migrationDrift,
  "docs match the code": docsDrift,
  "nothing of one machine": leaks,
};

let failed = 0;
for (const [step, problemsOf] of Object.entries(STEPS)) {
  const problems = await problemsOf();
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"} ${step}`);
  for (const problem of problems) console.log(problem.trimEnd());
  if (problems.length > 0) failed++;
}
process.exitCode = failed > 0 ? 1 : 0;

/** The command's output counts as a problem only if the command fails. */
async function quietly(...command: string[]): Promise<string[]> {
  const { exitCode, output } = await run(...command);
  return exitCode === 0 ? [] : [output];
}

/** Generates into a copy, so that the check never writes a migration. */
async function migrationDrift(): Promise<string[]> {
  const copy = await mkdtemp(join(tmpdir(), "plexus-drizzle-"));
  try {
    await cp(join(root, "drizzle"), copy, { recursive: true });
    const before = await contentsOf(copy);
    // A relative path, because drizzle-kit prepends "./" to it.
    const target = ["--dialect=sqlite", "--schema=./src/storage/sqlite/tables.ts", `--out=${relative(root, copy)}`];
    const { exitCode, output } = await run(join(bin, "drizzle-kit"), "generate", ...target);
    // drizzle-kit exits with 0 even if it has failed.
    if (exitCode !== 0 || !/No schema changes|migration file/.test(output)) return [output];
    const after = await contentsOf(copy);
    const changed = [...after.keys()].filter((path) => before.get(path) !== after.get(path));
    if (changed.length === 0) return [];
    return [`The tables have changed: run \`npm run migrate:generate\`. It would write ${changed.join(", ")}.`];
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function contentsOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(
    paths.map(async (path) => [relative(folder, path), await Bun.file(path).text()] as const),
  );
  return new Map(contents);
}

async function docsDrift(): Promise<string[]> {
  try {
    const stale = await staleDocs();
    return stale.map(({ path }) => `The code has changed, and ${path} has not: run \`npm run docs\`.`);
  } catch (cause) {
    return [cause instanceof Error ? cause.message : String(cause)];
  }
}

async function leaks(): Promise<string[]> {
  // Accept any owner of the checkout: this only lists files.
  const git = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { exitCode, output } = await run(...git);
  if (exitCode !== 0) return [output];
  const paths = output.split("\0").filter((path) => path !== "");
  const found = await Promise.all(
    paths.map(async (path) => {
      const file = Bun.file(join(root, path));
      return (await file.exists()) ? leaksIn(path, await file.text()) : [];
    }),
  );
  return found.flat();
}

async function run(...command: string[]): Promise<{ exitCode: number; output: string }> {
  const { exited, stdout, stderr } = Bun.spawn(command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, exitCode] = await Promise.all([stdout.text(), stderr.text(), exited]);
  return { exitCode, output: out + err };
}
