import { vitalsOf } from "../../tests/support/processes/vitals.ts";
import type { Finding } from "./finding.ts";
import { type Rig, startRig } from "./rig.ts";

const MEGABYTE = 1024 * 1024;
const LEVELS = 100_000;
const MAX_GROWTH_MB = 300;

/** Malformed bodies, each sent as a permit of MCP and as a decision of REST. */
const BODIES: Record<string, { make(shell: (inner: string) => string): string | Uint8Array; statuses: number[] }> = {
  "33 MB of JSON": { make: (shell) => shell(`"${"x".repeat(33 * MEGABYTE)}"`), statuses: [413] },
  [`JSON of ${LEVELS} levels`]: {
    make: (shell) => shell(`${"[".repeat(LEVELS)}${"]".repeat(LEVELS)}`),
    // MCP answers a request that it could parse with 200 and a refusal inside.
    statuses: [200, 400, 422],
  },
  "invalid UTF-8": {
    make: (shell) => Buffer.concat([Buffer.from(shell('"A')).subarray(0, -3), Buffer.from([0xff, 0xfe, 0x22, 0x7d])]),
    statuses: [400],
  },
  "half a JSON": { make: (shell) => shell("1").slice(0, -2), statuses: [400] },
};

export async function badBodies(): Promise<Finding[]> {
  await using rig = await startRig();
  const { id } = await rig.ask();
  const before = vitalsOf(rig.server.pid).rssMb;
  const findings: Finding[] = [];
  for (const [name, { make, statuses }] of Object.entries(BODIES)) {
    for (const [path, shell] of targets(id)) {
      const answer = await rig.request(path, { method: "POST", body: make(shell) });
      const [alive, status] = [await rig.request("/healthz"), await rig.statusOf(id)];
      findings.push({
        promised: `${name} on ${path.replace(id, "ID")} is refused, and decides nothing`,
        happened: `${answer.status} ${answer.text.slice(0, 120).replaceAll("\n", " ")}; the ask is ${status}`,
        kept:
          statuses.includes(answer.status) && isRefusal(answer.text) && alive.status === 200 && status === "pending",
      });
    }
  }
  findings.push(await whatIsLeft(rig, before));
  return findings;
}

function targets(id: string): [string, (inner: string) => string][] {
  const permit = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"loopback_permit","arguments":';
  return [
    ["/mcp", (inner) => `${permit}{"session_id":"child","tool_name":"Bash","input":{"x":${inner}}}}}`],
    [`/api/v1/approvals/${id}/respond`, (inner) => `{"approve":true,"updated_input":{"x":${inner}}}`],
  ];
}

function isRefusal(text: string): boolean {
  return /"error"|\\"type\\":\\"error\\"/.test(text);
}

async function whatIsLeft(rig: Rig, beforeMb: number): Promise<Finding> {
  const afterMb = vitalsOf(rig.server.pid).rssMb;
  const errors = rig.server.log.filter((line) => line.includes('"level":"error"'));
  return {
    promised: "none of them is a failure of the server, or stays in its memory",
    happened: `${errors.length} errors in the log, ${beforeMb.toFixed(0)} → ${afterMb.toFixed(0)} MB`,
    kept: errors.length === 0 && afterMb - beforeMb < MAX_GROWTH_MB,
  };
}
