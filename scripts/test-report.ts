export type TestReport = { file: string; seconds: number; passed: number; skipped: number; failures: string[] };

/** Reads the result of one file's tests: it passes only if both the exit code and a complete report say so. */
export function readReport(file: string, xml: string, exitCode: number): TestReport {
  const [head] = /<testsuites [^>]*>/.exec(xml) ?? [];
  const number = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(head ?? "")?.[1]);
  const [tests, failed, skipped] = [number("tests"), number("failures"), number("skipped")];
  const passed = tests - failed - skipped;
  const failures = failedTests(xml);
  if (!xml.trimEnd().endsWith("</testsuites>") || !Number.isInteger(passed)) {
    const reason = `bun test ended without a report (${exitCode}): a test has ended the process, or none ran`;
    return { file, seconds: 0, passed: 0, skipped: 0, failures: [`${file}: ${reason}`] };
  }
  while (failures.length < failed) failures.push("a test without a name, see above");
  if (failures.length === 0 && exitCode !== 0) failures.push(`it failed (${exitCode}) outside of any test, see above`);
  return { file, seconds: number("time"), passed, skipped, failures: failures.map((failure) => `${file}: ${failure}`) };
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
