import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
const BINARY = join(ROOT, "dist", "plexus");
/** The sources of the binary, and its build files. */
const SOURCES = ["src", "drizzle", "package.json", "package-lock.json"].concat(
  ["build", "compile", "run", "source-commit"].map((name) => `scripts/${name}.ts`),
);

let building: Promise<string> | undefined;

/** The compiled executable, built if older than its sources. All callers share one build. */
export function plexusBinary(): Promise<string> {
  building ??= isUpToDate() ? Promise.resolve(BINARY) : build();
  return building;
}

async function build(): Promise<string> {
  const build = Bun.spawn([process.execPath, join(ROOT, "scripts", "build.ts")], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([build.stdout.text(), build.stderr.text()]);
  if ((await build.exited) !== 0) throw new Error(`the binary could not be built:\n${stdout}${stderr}`);
  return BINARY;
}

function isUpToDate(): boolean {
  const builtAt = changedAt(BINARY);
  if (builtAt === undefined) return false;
  return SOURCES.map((source) => join(ROOT, source))
    .flatMap((source) => [source, ...below(source)])
    .every((source) => (changedAt(source) ?? Number.POSITIVE_INFINITY) < builtAt);
}

/** Includes folders, because removing a file changes only its folder. */
function below(path: string): string[] {
  if (!statSync(path).isDirectory()) return [];
  return readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
}

function changedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
