import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../until.ts";
import { processTable } from "./process-table.ts";
import { descendants, endRun, endTree, isRunning, RUN_MARKER, survivors } from "./processes.ts";

setDefaultTimeout(30_000);

describe("processes", () => {
  test("a tree is found and ended down to its grandchildren", async () => {
    const parent = Bun.spawn(["sh", "-c", "sh -c 'sleep 1000; true'; true"]);
    const tree = await until("a grandchild", () => atLeast(2, descendants(parent.pid)));
    await endTree(parent.pid);
    expect([parent.pid, ...tree].filter(isRunning)).toEqual([]);
    expect(descendants(parent.pid)).toEqual([]);
  });

  test("a zombie is not running", async () => {
    // The shell becomes a sleep, which never waits for the child that it inherits.
    const parent = Bun.spawn(["sh", "-c", "sleep 1000 & exec sleep 1001"]);
    try {
      await until("the shell to become a sleep", () => processTable.get(parent.pid)?.command === "sleep 1001");
      const [child = 0] = descendants(parent.pid);
      process.kill(child, "SIGKILL");
      await until("the child to end", () => !isRunning(child));
      expect(process.kill(child, 0)).toBe(true);
      expect(descendants(parent.pid)).toEqual([]);
    } finally {
      await endTree(parent.pid);
    }
  });

  test("a run's survivors are found and ended though they left its tree", async () => {
    const runId = crypto.randomUUID();
    const parent = Bun.spawn(["sh", "-c", "sleep 1000 &"], { env: { ...process.env, [RUN_MARKER]: runId } });
    await parent.exited;
    // Until it runs, it still has its shell's name.
    await until("the orphan to run", () => survivors(runId)[0]?.command === "sleep 1000");
    await endRun(runId);
    expect(survivors(runId)).toEqual([]);
  });
});

describe("until", () => {
  test("names what it waited for in vain", async () => {
    const waiting = until("a sign of life", () => undefined, 20);
    await expect(waiting).rejects.toThrow("a sign of life");
  });

  test("fails at once when the condition throws", async () => {
    const waiting = until("never mind", () => {
      throw new Error("broken condition");
    });
    await expect(waiting).rejects.toThrow("broken condition");
  });
});

function atLeast<T>(count: number, items: T[]): T[] | undefined {
  return items.length >= count ? items : undefined;
}
