import { readdirSync, readFileSync } from "node:fs";

export type Vitals = { rssMb: number; descriptors: number };

/** The resources of a process. Without /proc its descriptors can't be counted, and are 0. */
export function vitalsOf(pid: number): Vitals {
  try {
    const rssKb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    return { rssMb: rssKb / 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    const rssKb = Number(Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout.toString());
    return { rssMb: rssKb / 1024, descriptors: 0 };
  }
}

/** The number of descriptors that this process and its children may have. */
export function descriptorLimit(): number {
  const { stdout } = Bun.spawnSync(["/bin/sh", "-c", "ulimit -n"]);
  const limit = Number(stdout.toString());
  return Number.isFinite(limit) ? limit : Number.POSITIVE_INFINITY;
}
