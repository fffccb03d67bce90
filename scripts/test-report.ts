export type TestReport = { passed: number; skipped: number; failures: string[] };

/** What a run of these files came to: all is well only when the runner says so and its report, of every file, says so too. */
export function readReport(xml: string, files: string[], exitCode: number): TestReport {
  if (!xml.trimEnd().endsWith("</testsuites>")) {
    const [file = "", ...others] = files;
    const which = others.length > 0 ? `${files.length} files` : file;
    return { passed: 0, skipped: 0, failures: [`${which}: bun test ended without a whole report (${exitCode})`] };
  }
  const number = (name: string) => Number(new RegExp(`<testsuites [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1]);
  const [tests, failed, skipped] = [number("tests"), number("failures"), number("skipped")];
  const failures = [...failedTests(xml), ...withoutTests(xml, files)];
  const passed = tests - failed - skipped;
  if (failures.length < failed) failures.push(`${failed - failures.length} tests more: see above`);
  if (exitCode !== 0 && failures.length === 0) {
    failures.push(passed > 0 ? `bun test failed (${exitCode}) outside of any test: see above` : "no test has run");
  }
  return { passed, skipped, failures };
}

function failedTests(xml: string): string[] {
  return [...xml.matchAll(/<testcase ([^>]*[^>/])>\s*<failure/g)].map(([, attributes = ""]) => {
    const value = (name: string) => text(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
    const title = [value("classname"), value("name")].filter((part) => part !== "").join(" > ");
    return `${value("file")}: ${title}`;
  });
}

/** A file that could not be loaded is not in the report. */
function withoutTests(xml: string, files: string[]): string[] {
  const reported = new Set([...xml.matchAll(/<testsuite [^>]*\bfile="([^"]*)"/g)].map(([, file = ""]) => text(file)));
  return files.filter((file) => !reported.has(file)).map((file) => `${file}: none of its tests has run: see above`);
}

function text(escaped: string): string {
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#10": " " };
  return escaped.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);
}
