/**
 * Runs test files side by side, then those of tests/alone.ts one after the other; the last line is "N passed, N failed".
 *
 *   npm test -- [--jobs N] [PATH…] [options of bun test]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ALONE } from "../tests/alone.ts";
import { readReport, type TestReport } from "./test-report.ts";

const TIMEOUT_MS = 60_000;
const TESTS = "tests/**/*.test.{ts,tsx}";
/** The slowest files start first; `npm test -- --update-timings` measures again. */
const TIMINGS = "tests/durations.json";

type Batch = { files: string[]; jobs: number };

const { jobs, paths, flags } = readArguments(process.argv.slice(2));
const files = [...new Bun.Glob(TESTS).scanSync()].filter(isAskedFor).sort();
const directory = mkdtempSync(join(tmpdir(), "plexus-junit-"));
let running: Bun.Subprocess | undefined;
let isStopped = false;
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    isStopped = true;
    running?.kill(name);
  });
}
try {
  const [beside, alone] = [files.filter((file) => !(file in ALONE)), files.filter((file) => file in ALONE)];
  const batches: Batch[] = [{ files: beside, jobs }, ...alone.map((file) => ({ files: [file], jobs: 1 }))];
  const reports: TestReport[] = [];
  for (const batch of batches) {
    if (batch.files.length > 0 && !isStopped) reports.push(await run(batch));
  }
  process.exitCode = tell(reports) ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function run({ files, jobs }: Batch): Promise<TestReport> {
  const report = join(directory, "report.xml");
  rmSync(report, { force: true });
  const options = [`--timeout=${TIMEOUT_MS}`, `--parallel=${jobs}`, `--timings=${TIMINGS}`];
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  running = Bun.spawn(
    [process.execPath, "test", ...options, ...reporter, ...flags, ...files.map((file) => `./${file}`)],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const exitCode = await running.exited;
  const xml = await Bun.file(report)
    .text()
    .catch(() => "");
  return readReport(xml, files, exitCode);
}

/** Repeats what has failed, and says whether all is well. */
function tell(reports: TestReport[]): boolean {
  const failures = reports.flatMap((report) => report.failures);
  if (reports.length === 0) failures.push(isStopped ? "stopped before any test" : "no test file was found");
  const sum = (count: (report: TestReport) => number) => reports.reduce((total, report) => total + count(report), 0);
  const [passed, skipped] = [sum((report) => report.passed), sum((report) => report.skipped)];
  if (failures.length > 0) console.log(`\n${failures.map((failure) => `FAILED ${failure}`).join("\n")}\n`);
  console.log(`${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failures.length === 0;
}

function isAskedFor(file: string): boolean {
  return paths.length === 0 || paths.some((path) => file.includes(path));
}

function readArguments(args: string[]): { jobs: number; paths: string[]; flags: string[] } {
  const { values, positionals, tokens } = parseArgs({
    args,
    options: { jobs: { type: "string" }, "test-name-pattern": { type: "string", short: "t" } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const jobs = Number(values.jobs ?? process.env["TEST_JOBS"] ?? availableParallelism());
  if (!Number.isInteger(jobs) || jobs < 1) throw new Error(`--jobs and TEST_JOBS take a whole number, not ${jobs}`);
  const flags = tokens.flatMap((token) => {
    if (token.kind !== "option" || token.name === "jobs") return [];
    return token.value === undefined ? [token.rawName] : [`--${token.name}=${token.value}`];
  });
  return { jobs, paths: positionals.map(relative), flags };
}

function relative(path: string): string {
  return path.replace(`${process.cwd()}/`, "").replace(/^\.\//, "");
}
