import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Finding } from "./finding.ts";
import { isBearable, ratioOf, startRig } from "./rig.ts";

/** Tests another program's write lock on the database, for a moment and for long. */
export async function lockedDatabase(): Promise<Finding[]> {
  await using rig = await startRig();
  using other = new Database(join(rig.dataDir, "plexus.db"));
  const [first, second] = [await rig.ask(), await rig.ask()];
  const before = await rig.latency();

  other.run("BEGIN IMMEDIATE");
  const patient = rig.allow(first.id);
  const during = await rig.latency(20);
  const isWaiting = Bun.peek.status(patient) === "pending";
  other.run("ROLLBACK");
  const taken = await patient;

  other.run("BEGIN IMMEDIATE");
  const denied = rig.answerTo("make");
  const late = await rig.allow(second.id);
  const told = await denied;
  const ready = await rig.request("/readyz");
  const status = await rig.statusOf(second.id);
  other.run("ROLLBACK");
  const again = await rig.allow(second.id);
  return [
    {
      promised: "a lock of a moment delays a decision, and nobody else's call",
      happened: `${isWaiting ? "it waited, then " : ""}${taken.status}; other calls took ${ratioOf(during, before)}`,
      kept: taken.status === 200 && isBearable(during, before),
    },
    {
      promised: "a lock for long refuses asks and decisions, in plain words; nothing is allowed",
      happened: `${late.status}, then ${status}; the child is told ${told}`,
      kept:
        late.status === 503 &&
        late.text.includes("Another program holds the database locked") &&
        status === "pending" &&
        told.includes('"behavior":"deny"'),
    },
    { promised: "/readyz says not ready", happened: String(ready.status), kept: ready.status === 503 },
    {
      promised: "once it is free, all goes on without a restart",
      happened: `${again.status}, allowed: ${await rig.allowed()}`,
      kept: again.status === 200 && (await rig.allowed()) === 2,
    },
  ];
}
