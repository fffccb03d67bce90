import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TIMEOUT_MS = 60_000;
type Totals = { passed: number; failed: number; skipped: number };

const directory = mkdtempSync(join(tmpdir(), "plexus-junit-"));
try {
  const report = join(directory, "report.xml");
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const tests = Bun.spawn(
    [process.execPath, "test", `--timeout=${TIMEOUT_MS}`, ...reporter, ...process.argv.slice(2)],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => tests.kill(name));
  const exitCode = await tests.exited;
  const { passed, failed, skipped } = judge(exitCode, await totalsOf(report));
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Green only when the runner says so and its report, complete, says so too. */
function judge(exitCode: number, totals: Totals | undefined): Totals {
  const problem = problemOf(exitCode, totals);
  if (problem !== undefined) console.error(`\n${problem}`);
  const { passed, failed, skipped } = totals ?? { passed: 0, failed: 0, skipped: 0 };
  return { passed, failed: problem === undefined ? failed : Math.max(1, failed), skipped };
}

function problemOf(exitCode: number, totals: Totals | undefined): string | undefined {
  if (totals === undefined && exitCode === 0) return "bun test ended without a report: a test has ended the process.";
  if (totals === undefined) return `bun test ended without a report (${exitCode}): see above.`;
  if (totals.passed + totals.failed === 0) return `bun test ran no test (${exitCode}).`;
  if (exitCode !== 0 && totals.failed === 0) return `bun test failed (${exitCode}) outside of any test: see above.`;
  return undefined;
}

async function totalsOf(report: string): Promise<Totals | undefined> {
  const xml = await Bun.file(report)
    .text()
    .catch(() => "");
  const [head] = /<testsuites [^>]*>/.exec(xml) ?? [];
  if (head === undefined || !xml.trimEnd().endsWith("</testsuites>")) return undefined;
  const number = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1]);
  const [tests, failed, skipped] = [number("tests"), number("failures"), number("skipped")];
  const passed = tests - failed - skipped;
  return Number.isInteger(passed) ? { passed, failed, skipped } : undefined;
}
