/**
 * Runs groups of test files in parallel, each group in its own process, then those of tests/alone.ts one after the other.
 * The last line is "N passed, N failed".
 *
 *   npm test -- [--jobs N] [--record] [PATH…] [options of bun test]
 */
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ALONE, APART } from "../tests/alone.ts";
import { plexusBinary } from "../tests/support/server/binary.ts";
import { type Group, groupsOf } from "./testing/test-groups.ts";
import { readReports, type TestReport } from "./testing/test-report.ts";

const TIMEOUT_MS = 60_000;
/** A group that takes longer hangs outside of any test: it is killed, and each of its files runs in its own process, which decides. */
const GROUP_TIMEOUT_MS = 8 * 60_000;
const TESTS = "tests/**/*.test.{ts,tsx}";
/** The duration of each slow file in seconds. `--record` measures again. */
const DURATIONS = "tests/durations.json";
const SLOW_SECONDS = 5;
const NOTHING = { seconds: 0, passed: 0, skipped: 0, failures: [] };
const NO_MATCH = /^error: regex .* matched 0 tests\./m;

const { jobs, isRecording, hasTitle, paths, flags } = readArguments(process.argv.slice(2));
const directory = mkdtempSync(join(tmpdir(), "plexus-junit-"));
/** Passed explicitly, because Bun's child processes don't inherit later changes of `process.env`. */
const environment: Record<string, string | undefined> = { ...process.env };
const running = new Set<Bun.Subprocess>();
let isStopped = false;
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    isStopped = true;
    for (const tests of running) tests.kill(name);
  });
}
try {
  // Build once, which takes three seconds; then every server and command of the tests starts in a third of the time.
  environment["TEST_PROGRAM"] = await plexusBinary();
  const files = [...new Bun.Glob(TESTS).scanSync()].filter(isAskedFor).sort();
  const groups = groupsOf(files, durations(), (file) => file in ALONE || file in APART);
  const isAlone = ({ files }: Group) => files.some((file) => file in ALONE);
  const beside = await runAll(
    groups.filter((group) => !isAlone(group)),
    jobs,
  );
  const alone = await runAll(groups.filter(isAlone), 1);
  if (isRecording) record([...beside, ...alone]);
  process.exitCode = tell([...beside, ...alone]) ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function runAll(groups: Group[], jobs: number): Promise<TestReport[]> {
  const queue = [...groups];
  const reports: TestReport[] = [];
  const worker = async () => {
    for (let group = queue.shift(); group !== undefined && !isStopped; group = queue.shift())
      reports.push(...(await run(group.files)));
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return reports;
}

/** Runs the files in one process. If its report doesn't tell which of them is broken, runs each in its own process. */
async function run(files: string[]): Promise<TestReport[]> {
  const { printed, xml, exitCode, isHung } = await bunTest(files);
  // The requested title is in other files.
  if (hasTitle && NO_MATCH.test(printed)) return files.map((file) => ({ ...NOTHING, file }));
  console.log(printed.replace(/^bun test v.*\n/, ""));
  const reports = readReports(files, xml, exitCode);
  if (reports !== undefined) return reports.map(hasTitle ? withoutOtherTitles : (report) => report);
  const reason = `bun test ended (${exitCode}) and reports no failure: a test has ended the process, none ran, or something failed outside of any`;
  const broken = { ...NOTHING, file: files.join(", "), failures: [`${files.join(", ")}: ${reason}`] };
  if (files.length === 1 || isStopped) return [broken];
  const each: TestReport[] = [];
  for (const file of files) each.push(...(await run([file])));
  if (isHung) console.log(`The group of ${files[0]} hung, and was run again, file by file.`);
  return isHung || each.some(({ failures }) => failures.length > 0) ? each : [...each, broken];
}

/** Collects the output of a group, so that no other group's output is mixed in. */
async function bunTest(files: string[]): Promise<{ printed: string; xml: string; exitCode: number; isHung: boolean }> {
  const place = mkdtempSync(join(directory, "group-"));
  const [report, output] = [join(place, "report.xml"), join(place, "output")];
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const paths = files.map((file) => `./${file}`);
  const fd = openSync(output, "a");
  const tests = Bun.spawn([process.execPath, "test", `--timeout=${TIMEOUT_MS}`, ...reporter, ...flags, ...paths], {
    stdio: ["ignore", fd, fd],
    env: environment,
  });
  closeSync(fd);
  running.add(tests);
  let isHung = false;
  const kill = setTimeout(() => {
    isHung = true;
    tests.kill("SIGKILL");
  }, GROUP_TIMEOUT_MS);
  const exitCode = await tests.exited;
  clearTimeout(kill);
  running.delete(tests);
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  return { printed: readFileSync(output, "utf8"), xml, exitCode, isHung };
}

/** Bun counts all tests of a file without the requested title as skipped. */
function withoutOtherTitles(report: TestReport): TestReport {
  return report.passed + report.failures.length > 0 ? report : { ...report, skipped: 0 };
}

/** Lists the failures again, and returns whether all tests passed. */
function tell(reports: TestReport[]): boolean {
  const failures = reports.flatMap((report) => report.failures);
  const sum = (count: (report: TestReport) => number) => reports.reduce((total, report) => total + count(report), 0);
  const [passed, skipped] = [sum((report) => report.passed), sum((report) => report.skipped)];
  if (isStopped) failures.push("stopped before the end");
  if (passed === 0 && failures.length === 0) failures.push("no test has run");
  if (failures.length > 0) console.log(`${failures.map((failure) => `FAILED ${failure}`).join("\n")}\n`);
  console.log(`${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failures.length === 0;
}

function record(reports: TestReport[]): void {
  const measured = reports.map(({ file, seconds }): [string, number] => [file, Math.round(seconds)]);
  const slow = Object.entries({ ...durations(), ...Object.fromEntries(measured) })
    .filter(([file, seconds]) => seconds >= SLOW_SECONDS && existsSync(file))
    .sort(([, a], [, b]) => b - a);
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(slow), null, 2)}\n`);
}

function durations(): Record<string, number> {
  return existsSync(DURATIONS) ? JSON.parse(readFileSync(DURATIONS, "utf8")) : {};
}

function isAskedFor(file: string): boolean {
  return paths.length === 0 || paths.some((path) => file.includes(path));
}

function readArguments(args: string[]) {
  const { values, positionals, tokens } = parseArgs({
    args,
    options: {
      jobs: { type: "string" },
      record: { type: "boolean" },
      "test-name-pattern": { type: "string", short: "t" },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  // Tests spend half of their time waiting for a process or a deadline.
  const jobs = Number(values.jobs ?? process.env["TEST_JOBS"] ?? 2 * availableParallelism());
  if (!Number.isInteger(jobs) || jobs < 1) throw new Error("--jobs and TEST_JOBS take a whole number above 0.");
  const flags = tokens.flatMap((token) => {
    if (token.kind !== "option" || ["jobs", "record"].includes(token.name)) return [];
    return token.value === undefined ? [token.rawName] : [`--${token.name}=${token.value}`];
  });
  const hasTitle = values["test-name-pattern"] !== undefined;
  return { jobs, isRecording: values.record === true, hasTitle, paths: positionals.map(withinRoot), flags };
}

function withinRoot(path: string): string {
  return path.replace(`${process.cwd()}/`, "").replace(/^\.\//, "");
}
