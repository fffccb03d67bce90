import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { temporaryDirectory } from "../support/temporary.ts";
import type { Revision } from "./scenarios.ts";

const SUITE = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
/** A run takes some seconds. The suite itself does not limit all of its waits. */
const TIMEOUT_MS = 100_000;

const Check = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
  errorMessage: z.string().optional(),
  details: z.unknown().optional(),
});
type Check = z.infer<typeof Check>;

export type SuiteRun = {
  exitCode: number | null;
  output: string;
  /** A scenario that crashed has no checks. */
  scenarios: { name: string; checks: Check[] }[];
};

/** All scenarios that a revision requires, or a single one in a revision. */
type Selection = { requirements: Revision } | { scenario: string; revision: Revision };

/** Runs the official suite against a server, as a separate process. */
export async function runSuite(url: string, selection: Selection): Promise<SuiteRun> {
  await using results = await temporaryDirectory();
  const selected =
    "requirements" in selection
      ? ["--requirements", selection.requirements]
      : ["--scenario", selection.scenario, "--spec-version", selection.revision];
  const subprocess = Bun.spawn(
    [process.execPath, SUITE, "server", "--url", `${url}/mcp`, ...selected, "--output-dir", results.path],
    {
      cwd: results.path,
      env: { PATH: process.env["PATH"], HOME: results.path, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    },
  );
  const [out, err] = await Promise.all([subprocess.stdout.text(), subprocess.stderr.text(), subprocess.exited]);
  const scenarios = (await readdir(results.path)).sort().flatMap((folder) => {
    const name = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder)?.[1];
    return name === undefined ? [] : [{ name, folder }];
  });
  return {
    exitCode: subprocess.exitCode,
    output: out + err,
    scenarios: await Promise.all(
      scenarios.map(async ({ name, folder }) => ({ name, checks: await readChecks(join(results.path, folder)) })),
    ),
  };
}

/** The scenarios of a run that did not pass. */
export function failedIn({ scenarios }: SuiteRun): string[] {
  return scenarios.filter(({ checks }) => passed(checks) === 0 || checks.some(isBad)).map(({ name }) => name);
}

/** The same run without these scenarios. */
export function without(run: SuiteRun, names: string[]): SuiteRun {
  return { ...run, scenarios: run.scenarios.filter(({ name }) => !names.includes(name)) };
}

/** All problems of a run, one line for each. A warning counts too, as in the suite's own baseline. */
export function problemsOf({ exitCode, output, scenarios }: SuiteRun): string[] {
  if (scenarios.length === 0) return [`the suite ran no scenario (${exitCode}):\n${output}`];
  const problems = scenarios.flatMap(({ name, checks }) => {
    const bad = checks.filter(isBad);
    if (bad.length > 0) return bad.map((check) => `${name}: ${told(check)}`);
    return passed(checks) > 0 ? [] : [`${name}: no check passed (${exitCode}):\n${output}`];
  });
  if (exitCode !== 0 && problems.length === 0) return [`the suite ended with ${exitCode}:\n${output}`];
  return problems;
}

export function passedChecks({ scenarios }: SuiteRun): number {
  return scenarios.reduce((total, { checks }) => total + passed(checks), 0);
}

async function readChecks(folder: string): Promise<Check[]> {
  const file = Bun.file(join(folder, "checks.json"));
  return (await file.exists()) ? z.array(Check).parse(await file.json()) : [];
}

function isBad({ status }: Check): boolean {
  return status === "FAILURE" || status === "WARNING";
}

function passed(checks: Check[]): number {
  return checks.filter(({ status }) => status === "SUCCESS").length;
}

function told({ name, status, description, errorMessage, details }: Check): string {
  const shown = details === undefined ? "" : ` ${JSON.stringify(details)}`;
  return `${status} ${name}: ${errorMessage ?? description}${shown}`;
}
