import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import {
  createCgroup,
  entryOf,
  killCgroup,
  ownCgroup,
  processesIn,
  removeCgroup,
} from "../../../src/claude/process/cgroup.ts";
import { isRunning } from "../../support/processes/processes.ts";
import { usableCgroup } from "../../support/processes/usable-cgroup.ts";
import { until } from "../../support/until.ts";

const PARENT = usableCgroup();

test("createCgroup returns undefined if control groups can't be created", () => {
  expect(createCgroup("/dev/null", "none")).toBeUndefined();
});

describe.skipIf(!PARENT)("a control group", () => {
  test("is created below the given group, and killCgroup kills its processes and those of groups below it", async () => {
    await using group = makeGroup();
    expect(group.path.startsWith(`${ownCgroup()}`)).toBe(true);
    const below = join(group.path, "below");
    mkdirSync(below);
    const sleepers = [await group.sleeper(), await group.sleeper(below)];
    expect(processesIn(group.path).toSorted()).toEqual(sleepers.toSorted());
    killCgroup(group.path);
    await until("all to end", () => !sleepers.some(isRunning));
    removeCgroup(group.path);
    expect(existsSync(group.path)).toBe(false);
  });

  test("stays while a process is in it, and is removed when another one is created a minute later", async () => {
    await using group = makeGroup();
    const pid = await group.sleeper();
    removeCgroup(group.path);
    expect(processesIn(group.path)).toEqual([pid]);
    killCgroup(group.path);
    await until("it to end", () => !isRunning(pid));
    {
      await using _ = makeGroup();
      expect(existsSync(group.path)).toBe(true);
    }
    const earlier = new Date(Date.now() - 61_000);
    utimesSync(group.path, earlier, earlier);
    await using _ = makeGroup();
    expect(existsSync(group.path)).toBe(false);
  });
});

function makeGroup() {
  const path = createCgroup(PARENT ?? "", crypto.randomUUID()) ?? "";
  return {
    path,
    /** A process that has entered the group. */
    async sleeper(cgroup = path): Promise<number> {
      const { pid } = Bun.spawn(["/bin/sh", "-c", `echo 0 >"$0" && exec sleep 600`, entryOf(cgroup)]);
      await until("it to enter", () => processesIn(cgroup).includes(pid));
      return pid;
    },
    async [Symbol.asyncDispose]() {
      killCgroup(path);
      await until("the group to go", () => {
        removeCgroup(path);
        return !existsSync(path);
      });
    },
  };
}
