export type TestReport = { file: string; seconds: number; passed: number; skipped: number; failures: string[] };

/** Reads the result of each file's tests, or nothing if the report is incomplete, lacks a file or contradicts the exit code. */
export function readReports(files: string[], xml: string, exitCode: number): TestReport[] | undefined {
  if (!xml.trimEnd().endsWith("</testsuites>")) return;
  const suites = xml.split(/^ {2}(?=<testsuite )/m);
  const reports = files.flatMap((file) => {
    const suite = suites.find((suite) => suite.startsWith(`<testsuite name="${file}"`));
    const report = suite === undefined ? undefined : readSuite(file, suite);
    return report !== undefined && Number.isInteger(report.passed) ? [report] : [];
  });
  const isExplained = exitCode === 0 || reports.some(({ failures }) => failures.length > 0);
  return isExplained && reports.length === files.length ? reports : undefined;
}

function readSuite(file: string, xml: string): TestReport {
  const [head] = /<testsuite [^>]*>/.exec(xml) ?? [];
  const number = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(head ?? "")?.[1]);
  const [tests, failed, skipped] = [number("tests"), number("failures"), number("skipped")];
  const failures = failedTests(xml);
  while (failures.length < failed) failures.push("a test without a name, see above");
  return {
    ...{ file, seconds: number("time"), passed: tests - failed - skipped, skipped },
    failures: failures.map((failure) => `${file}: ${failure}`),
  };
}

function failedTests(xml: string): string[] {
  return [...xml.matchAll(/<testcase ([^>]*[^>/])>\s*<failure/g)].map(([, attributes = ""]) => {
    const value = (name: string) => text(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
    return [value("classname"), value("name")].filter((part) => part !== "").join(" > ");
  });
}

function text(escaped: string): string {
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#10": " " };
  return escaped.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);
}
