import { descriptorLimit, vitalsOf } from "../../tests/support/processes/vitals.ts";
import { until } from "../../tests/support/until.ts";
import { openConnections } from "./connections.ts";
import type { Finding, Size } from "./finding.ts";
import { isBearable, ratioOf, startRig } from "./rig.ts";

/** Descriptors that this process and the server need for themselves. */
const RESERVED = 200;
const MAX_KB_EACH = 40;

/** Tests thousands of callers that have sent one request and stay connected. */
export async function idleConnections({ idleConnections }: Size): Promise<Finding[]> {
  const count = Math.min(idleConnections, descriptorLimit() - RESERVED);
  await using rig = await startRig();
  const { pid } = rig.server;
  const waiting = await rig.ask();
  const before = await rig.latency();
  const start = vitalsOf(pid);
  const healthz = `GET /healthz HTTP/1.1\r\nHost: ${new URL(rig.server.url).host}\r\n\r\n`;
  using crowd = await openConnections(rig.server.url, count, healthz);
  await until("all of them to be answered", () => crowd.answered() === count, 60_000);
  const crowded = vitalsOf(pid);
  const during = await rig.latency();
  const decided = await rig.allow(waiting.id);
  crowd[Symbol.dispose]();
  await until("the connections to be let go", () => vitalsOf(pid).descriptors <= start.descriptors + 5, 30_000);
  const kbEach = ((crowded.rssMb - start.rssMb) * 1024) / count;
  return [
    {
      promised: `${count} idle connections cost memory in proportion, and are let go`,
      happened: `${start.rssMb.toFixed(0)} → ${crowded.rssMb.toFixed(0)} MB, ${kbEach.toFixed(1)} kB each; open files ${start.descriptors}, then ${crowded.descriptors}, ${vitalsOf(pid).descriptors} at the end`,
      kept: kbEach < MAX_KB_EACH && (crowded.descriptors === 0 || crowded.descriptors >= count),
    },
    {
      promised: "others are served meanwhile, and decisions made",
      happened: `other calls took ${ratioOf(during, before)}; the decision ${decided.status}`,
      kept: isBearable(during, before) && decided.status === 200,
    },
  ];
}
