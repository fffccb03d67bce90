import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { canMountSmallDisk, smallDisk } from "../../tests/storage/sqlite/data-dir/small-disk.ts";
import type { Finding } from "./finding.ts";
import { startRig } from "./rig.ts";

/** Tests the server on a disk that fills up, and has space again. */
export async function fullDisk(): Promise<Finding[]> {
  if (!canMountSmallDisk()) return [{ promised: "nothing is allowed", happened: "only root may mount a small disk" }];
  using disk = smallDisk("8m");
  // A subdirectory, because the root of a new disk is open to all.
  const dataDir = join(disk.path, "data");
  mkdirSync(dataDir);
  await using rig = await startRig({ dataDir });
  const waiting = await rig.ask();
  disk.fill();
  const refused = await rig.answerTo("rm -rf build");
  const decided = await rig.allow(waiting.id);
  const ready = await rig.request("/readyz");
  const alive = await rig.request("/healthz");
  const status = await rig.statusOf(waiting.id);
  const lines = rig.server.log.filter((line) => line.includes("disk that holds the data dir is full"));
  disk.free();
  const again = await rig.allow(waiting.id);
  const answer = await waiting.stream.answer();
  return [
    {
      promised: "an ask that can't be recorded is denied, in plain words",
      happened: refused,
      kept: refused.includes('"behavior":"deny"') && refused.includes("disk") && refused.includes("full"),
    },
    {
      promised: "a decision that can't be recorded is refused, and its ask stays pending",
      happened: `${decided.status}, then ${status}`,
      kept: decided.status === 503 && decided.text.includes("is full") && status === "pending",
    },
    {
      promised: "/healthz says alive, /readyz says not ready, the log says why",
      happened: `${alive.status}, ${ready.status}, ${lines.length} lines`,
      kept: alive.status === 200 && ready.status === 503 && lines.length > 0,
    },
    {
      promised: "with space again all goes on without a restart",
      happened: `${again.status}, the child is told ${answer}`,
      kept: again.status === 200 && answer.includes('"behavior":"allow"'),
    },
  ];
}
