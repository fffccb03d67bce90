import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startPlexus } from "../support/server/plexus.ts";
import { problemsOf, runSuite, type SuiteRun } from "./suite.ts";

setDefaultTimeout(60_000);

const revision = "2025-11-25";

const passing = check({ status: "SUCCESS" });

describe("problemsOf", () => {
  test("finds none where every scenario has passed", () => {
    expect(problemsOf(ran([passing, check({ status: "INFO" })]))).toEqual([]);
  });

  test("refuses a run without any scenario", () => {
    expect(problemsOf({ exitCode: 0, output: "nothing to do", scenarios: [] })).toEqual([
      "the suite ran no scenario (0):\nnothing to do",
    ]);
  });

  test("refuses a scenario without any check", () => {
    expect(problemsOf(ran([]))).toEqual(["ping: no check passed (0):\nwhat it printed"]);
  });

  test("refuses a scenario that was only told about", () => {
    expect(problemsOf(ran([check({ status: "INFO" })]))).toEqual(["ping: no check passed (0):\nwhat it printed"]);
  });

  test("names the check that warns beside one that passes", () => {
    const warning = check({ status: "WARNING", errorMessage: "too slow", details: { ms: 9 } });
    expect(problemsOf(ran([passing, warning]))).toEqual(['ping: WARNING Ping: too slow {"ms":9}']);
  });

  test("refuses a run that failed for a reason that no check tells", () => {
    expect(problemsOf({ ...ran([passing]), exitCode: null, output: "killed" })).toEqual([
      "the suite ended with null:\nkilled",
    ]);
  });
});

describe("runSuite", () => {
  test("tells which check a server fails, and why", async () => {
    await using plexus = await startPlexus({ flags: { auth: "none" } });
    expect(problemsOf(await runSuite(plexus.url, { scenario: "tools-call-image", revision }))).toEqual([
      'tools-call-image: FAILURE ToolsCallImage: No image content found {"hasData":false}',
    ]);
  });

  test("fails where nobody listens", async () => {
    const { url, ...plexus } = await startPlexus();
    await plexus[Symbol.asyncDispose]();
    const problems = problemsOf(await runSuite(url, { scenario: "ping", revision }));
    expect(problems).toEqual([expect.stringContaining("ping: FAILURE Ping: Failed: ECONNREFUSED")]);
  });

  test("fails for a scenario that the suite does not have", async () => {
    const problems = problemsOf(await runSuite("http://127.0.0.1:1", { scenario: "no-such-scenario", revision }));
    expect(problems).toEqual([expect.stringContaining("Unknown scenario 'no-such-scenario'")]);
  });
});

type Check = SuiteRun["scenarios"][number]["checks"][number];

function check(fields: Pick<Check, "status"> & Partial<Check>): Check {
  return { id: "ping", name: "Ping", description: "Answers", ...fields };
}

function ran(checks: Check[]): SuiteRun {
  return { exitCode: 0, output: "what it printed", scenarios: [{ name: "ping", checks }] };
}
