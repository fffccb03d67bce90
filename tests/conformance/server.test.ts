import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { OPERATOR_TOKEN } from "../support/server/plexus.ts";
import { startServerProcess } from "../support/server/server-process.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { ACTIVE_SCENARIOS, TRANSPORT_SCENARIOS } from "./scenarios.ts";
import { createForgetfulEndpoint, serveFixture } from "./serve-fixture.ts";
import { passedChecks, problemsOf, runSuite } from "./suite.ts";

setDefaultTimeout(60_000);

/** Of the pinned version of the suite. */
const ACTIVE_CHECKS = 40;

describe("the official conformance suite, on the production path with the suite's fixtures", () => {
  test("passes every active scenario", async () => {
    await using fixture = await serveFixture();
    const run = await runSuite(fixture.url);
    expect(problemsOf(run)).toEqual([]);
    expect(run.scenarios.map(({ name }) => name).sort()).toEqual(ACTIVE_SCENARIOS);
    expect(passedChecks(run)).toBe(ACTIVE_CHECKS);
    expect(fixture.log).toEqual([]);
  });

  test("passes every active scenario when each client session has to be restored from disk", async () => {
    let forgotten = 0;
    await using fixture = await serveFixture((app) => createForgetfulEndpoint(app, () => forgotten++));
    const run = await runSuite(fixture.url);
    expect(problemsOf(run)).toEqual([]);
    expect(passedChecks(run)).toBe(ACTIVE_CHECKS);
    expect(fixture.log).toEqual([]);
    expect(forgotten).toBeGreaterThanOrEqual(ACTIVE_SCENARIOS.length);
  });

  test("passes json-schema-2020-12, which the suite holds back as pending", async () => {
    await using fixture = await serveFixture();
    expect(problemsOf(await runSuite(fixture.url, "json-schema-2020-12"))).toEqual([]);
  });

  // Pending too, and wrong in 0.1.16: it expects an event without data although it sends a protocol version from before
  // those (conformance #366). No answer but a permit's can be resumed, so no other may begin with an id to resume by.
  test("answers server-sse-polling on the first stream, with no event to resume from", async () => {
    await using fixture = await serveFixture();
    const { scenarios } = await runSuite(fixture.url, "server-sse-polling");
    const checks = scenarios.flatMap((scenario) => scenario.checks);
    const missed = checks.filter(({ status }) => status !== "INFO").map(({ id, status }) => `${status} ${id}`);
    expect(missed).toEqual(["WARNING server-sse-priming-event", "WARNING server-sse-retry-field"]);
    expect(checks.at(-1)?.details).toMatchObject({ receivedToolResponse: true });
  });
});

describe("the official conformance suite, against plexus serve", () => {
  test.each(TRANSPORT_SCENARIOS)("passes %s", async (scenario) => {
    await using directory = await temporaryDirectory();
    const options = { dataDir: directory.path, token: OPERATOR_TOKEN, args: ["--auth", "none"] };
    await using server = await startServerProcess(options);
    expect(problemsOf(await runSuite(server.url, scenario))).toEqual([]);
  });
});
