import { describe, expect, test } from "bun:test";
import { MAX_APPROVAL_TIMEOUT_SECS } from "../../src/contract/approvals/approval.ts";
import { Carrier, carrierServer } from "../../src/contract/sessions/carrier.ts";
import { declared } from "../support/mcp/tool-answers.ts";

const HOUR_MS = 3_600_000;
/** Claude Code's limit, which is that of a timer. */
const CLI_MAX_TIMEOUT_MS = 2 ** 31 - 1;

describe("loopback_timeout_secs", () => {
  const TOOLS = [
    { tool: "claudecode_create", required: { name: "worker" } },
    { tool: "claudecode_update", required: { name: "worker" } },
    { tool: "claudecode_run", required: { name: "worker", prompt: "Work." } },
  ] as const;

  test.each(TOOLS)("is a whole number of seconds, from one to seven days, in $tool", ({ tool, required }) => {
    const takes = (secs: number) =>
      declared(tool).input.safeParse({ ...required, loopback_timeout_secs: secs }).success;
    expect([1, 604_799, 604_800].map(takes)).toEqual([true, true, true]);
    expect([-1, 0, 1.5, 604_801, 2 ** 31].map(takes)).toEqual([false, false, false, false, false]);
  });
});

describe("the time that Claude Code waits for an answer", () => {
  test.each(Carrier.options)("is longer than any request may wait, and accepted by Claude Code, over %s", (carrier) => {
    const server = carrierServer(carrier, { url: "http://127.0.0.1:4445", program: ["plexus"] }, "plx_token");
    const timeoutMs = Number(server["timeout"]);
    // A day more, because the clock that requests expire by may be set back.
    expect(timeoutMs).toBeGreaterThan(MAX_APPROVAL_TIMEOUT_SECS * 1000 + 24 * HOUR_MS);
    expect(timeoutMs).toBeLessThanOrEqual(CLI_MAX_TIMEOUT_MS);
  });
});
