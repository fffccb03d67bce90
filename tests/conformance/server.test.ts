import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { OPERATOR_TOKEN } from "../support/server/plexus.ts";
import { type ServerProcess, startServerProcess } from "../support/server/server-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";
import { FIXTURE_CHECKS, NOT_OFFERED, REVISIONS, requiredScenarios, TRANSPORT_SCENARIOS } from "./scenarios.ts";
import { createForgetfulEndpoint, serveFixture } from "./serve-fixture.ts";
import { failedIn, problemsOf, runSuite, without } from "./suite.ts";

setDefaultTimeout(120_000);

/** For the pinned version of the suite: the required scenarios, and all that run. */
const COUNTS = { "2025-11-25": { scored: 30, run: 33 }, "2026-07-28": { scored: 37, run: 50 } };

describe("the official conformance suite, on the production path with the suite's fixtures", () => {
  test.each([...REVISIONS])("passes all that %s requires, with no failure expected", async (revision) => {
    await using fixture = await serveFixture();
    const run = await runSuite(fixture.url, { requirements: revision });
    const { scored, others } = await requiredScenarios(revision);
    expect(run.scenarios.map(({ name }) => name).sort()).toEqual([...scored, ...others].sort());
    expect({ scored: scored.length, run: run.scenarios.length }).toEqual(COUNTS[revision]);
    expect(problemsOf(without(run, others))).toEqual([]);
    expect(failedIn(run).sort()).toEqual(Object.keys(NOT_OFFERED[revision]).sort());
    expect(fixture.log).toEqual([]);
  });

  test("passes all that 2025-11-25 requires when each client session has to be restored from disk", async () => {
    let forgotten = 0;
    await using fixture = await serveFixture((app) => createForgetfulEndpoint(app, () => forgotten++));
    const run = await runSuite(fixture.url, { requirements: "2025-11-25" });
    const { scored, others } = await requiredScenarios("2025-11-25");
    expect(problemsOf(without(run, others))).toEqual([]);
    expect(fixture.log).toEqual([]);
    expect(forgotten).toBeGreaterThanOrEqual(scored.length);
  });

  test("answers server-sse-polling on the first stream, which begins with an id to resume by", async () => {
    await using fixture = await serveFixture();
    const { scenarios } = await runSuite(fixture.url, { scenario: "server-sse-polling", revision: "2025-11-25" });
    const checks = scenarios.flatMap((scenario) => scenario.checks);
    const judged = checks.filter(({ status }) => status !== "INFO").map(({ id, status }) => `${status} ${id}`);
    expect(judged).toEqual(["SUCCESS server-sse-priming-event", "SUCCESS server-sse-retry-field"]);
    expect(checks.at(-1)?.details).toMatchObject({ receivedToolResponse: true });
  });
});

describe("the official conformance suite, against a server process", () => {
  let directory: TemporaryDirectory;
  let server: ServerProcess;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    const args = ["--auth", "none"];
    server = await startServerProcess({ dataDir: directory.path, token: OPERATOR_TOKEN, args });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  const scenarios = REVISIONS.flatMap((revision) =>
    TRANSPORT_SCENARIOS[revision].map((scenario) => [scenario, revision] as const),
  );
  test.each(scenarios)("passes %s of %s", async (scenario, revision) => {
    const run = await runSuite(server.url, { scenario, revision });
    const checks = run.scenarios.flatMap(({ checks }) => checks);
    const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING").map(({ id }) => id);
    expect(failed.filter((id) => !(id in FIXTURE_CHECKS))).toEqual([]);
    if (failed.length === 0) expect(problemsOf(run)).toEqual([]);
    expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(0);
  });
});
