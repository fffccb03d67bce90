import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesIn } from "../../../src/claude/launch/launch.ts";
import { readExitCode, readStderrTail } from "../../../src/claude/process/exit-status.ts";
import { isSameProcess } from "../../../src/claude/process/processes.ts";
import { stopProcessTree } from "../../../src/claude/process/stop-process.ts";
import { type Escapee, planEscape } from "../../support/processes/escapee.ts";
import { descendants, isRunning } from "../../support/processes/processes.ts";
import { usableCgroup } from "../../support/processes/usable-cgroup.ts";
import { until } from "../../support/until.ts";
import { type Place, rawOutput, withPlace } from "../child.ts";

setDefaultTimeout(30_000);

const HAS_PROC = existsSync("/proc/self/fd");
const CGROUPS = usableCgroup();
const model = { url: "http://127.0.0.1:9" };

type Start = Parameters<Parameters<typeof withPlace>[0]>[1];

describe("launch", () => {
  test("passes the prompt on stdin, whatever it begins with", () =>
    withPlace(async (place, start) => {
      const run = start({ model, claude: program(place, "cat"), prompt: "--help\n'$(id)' ünï" });
      await run.exited;
      expect(rawOutput(run)).toBe("--help\n'$(id)' ünï");
    }));

  test("stores the exit code and stderr", () =>
    withPlace(async (place, start) => {
      const run = start({ model, claude: program(place, "echo oh no >&2; exit 7") });
      await run.exited;
      expect(readExitCode(run.dir)).toBe(7);
      expect(readStderrTail(run.dir)).toBe("oh no\n");
      expect(await run.outcome()).toEqual({
        outcome: "failed",
        message: "Claude Code ended with exit code 7, before it had begun.\nstderr: oh no",
      });
    }));

  test.skipIf(!HAS_PROC)("passes the token in the config file, never in an argument or the environment", () =>
    withPlace(async (place, start) => {
      const claude = program(place, `tr '\\0' '\\n' </proc/$$/cmdline; env`);
      const loopback = {
        type: "http",
        url: "http://127.0.0.1:9/mcp",
        headers: { Authorization: "Bearer of-the-turn" },
      };
      const run = start({ model, claude, loopback });
      await run.exited;
      expect(JSON.parse(readFileSync(filesIn(run.dir).mcpConfig, "utf8"))).toEqual({
        mcpServers: { plexus: loopback },
      });
      expect(rawOutput(run)).toContain("--permission-prompt-tool");
      expect(rawOutput(run)).not.toContain("of-the-turn");
    }),
  );

  test.skipIf(!HAS_PROC)("passes no open file of the server on to the child", () =>
    withPlace(async (place, start) => {
      const open = openSync(join(place.root, "of-the-server"), "w");
      using server = Bun.serve({ port: 0, fetch: () => new Response() });
      expect(server.port).toBeGreaterThan(0);
      const run = start({ model, claude: program(place, "ls -l /proc/$$/fd") });
      await run.exited;
      closeSync(open);
      const targets = rawOutput(run)
        .split("\n")
        .flatMap((line) => line.split(" -> ")[1] ?? []);
      const files = filesIn(run.dir);
      // The last one is the script that the shell reads.
      expect(targets.filter((target) => target !== join(place.root, "program"))).toEqual([
        files.prompt,
        files.stdout,
        files.stderr,
      ]);
    }),
  );

  test("starts a child that outlives the server and still stores its exit code", () =>
    withPlace(async (place) => {
      const dir = join(place.dataDir, "turn");
      const go = join(place.root, "go");
      const claude = program(place, `while [ ! -e ${go} ]; do sleep 0.02; done; echo done; exit 3`);
      const spec = {
        claude,
        dir,
        dataDir: place.dataDir,
        workingDir: place.workingDir,
        supervision: "default",
        prompt: "",
        umask: 0o022,
      };
      const starting = `import { launch } from ${JSON.stringify(join(import.meta.dir, "../../../src/claude/launch/launch.ts"))};
        const { pid, startTime } = launch({ ...${JSON.stringify(spec)}, env: process.env });
        console.log(JSON.stringify({ pid, startTime }));`;
      const server = Bun.spawn([process.execPath, "-e", starting], { stdio: ["ignore", "pipe", "inherit"] });
      const child = JSON.parse(await server.stdout.text());
      await server.exited;
      expect(isSameProcess(child)).toBe(true);
      writeFileSync(go, "");
      await until("the exit code", () => readExitCode(dir) === 3);
      expect(rawOutput({ dir })).toBe("done\n");
      await until("its end", () => !isSameProcess(child));
    }));

  test.skipIf(!HAS_PROC)("starts the child in its own process session", () =>
    withPlace(async (place, start) => {
      const run = start({ model, claude: program(place, "exec tail -f /dev/null") });
      const [, , session] = readFileSync(`/proc/${run.pid}/stat`, "utf8").split(") ")[1]?.split(" ").slice(1) ?? [];
      expect(Number(session)).toBe(run.pid);
      await run.cancel(0);
    }),
  );

  test.each([
    ["that is absent", (place: Place) => join(place.root, "absent"), "does not exist: create it"],
    ["that is a file", (place: Place) => join(place.root, "file"), "is a file, not a directory"],
    ["below a file", (place: Place) => join(place.root, "file", "below"), "does not exist"],
    ["that is not absolute", () => "relative", "is not an absolute path"],
  ])("refuses a working directory %s, and says what to do", (_, path, message) =>
    withPlace(async (place, start) => {
      writeFileSync(join(place.root, "file"), "");
      expect(() => start({ model, workingDir: path(place) })).toThrow(message);
    }),
  );

  test.skipIf(process.getuid?.() === 0)("refuses a working directory that this user can't read", () =>
    withPlace(async (place, start) => {
      const workingDir = join(place.root, "locked");
      mkdirSync(workingDir, { mode: 0 });
      expect(() => start({ model, workingDir })).toThrow("can't be read by this user");
    }),
  );

  test("refuses an MCP server called plexus before it writes anything", () =>
    withPlace(async (place, start) => {
      expect(() => start({ model, mcpServers: { plexus: {} } })).toThrow("the name of Plexus itself");
      expect(existsSync(join(place.dataDir, "turns"))).toBe(false);
    }));
});

describe("isSameProcess", () => {
  test("identifies a process by its start time, not by its pid alone", () =>
    withPlace(async (place, start) => {
      const run = start({ model, claude: program(place, "exec tail -f /dev/null") });
      expect(isSameProcess(run)).toBe(true);
      expect(isSameProcess({ pid: run.pid, startTime: "1" })).toBe(false);
      await run.cancel(0);
      expect(isSameProcess(run)).toBe(false);
    }));
});

describe("stopProcessTree", () => {
  test("stops a CLI that ignores signals, its children and processes outside the tree, and keeps the exit code", () =>
    withPlace(async (place, start) => {
      const stubborn =
        "trap '' INT TERM HUP; (setsid tail -f /dev/null & echo $!); (tail -f /dev/null & echo $!); tail -f /dev/null & echo $!; wait";
      const run = start({ model, claude: program(place, stubborn) });
      const pids = await until("three tails", () => {
        const told = rawOutput(run).trim().split("\n").map(Number);
        return told.length === 3 && told.every(isRunning) ? told : undefined;
      });
      await run.cancel(50);
      expect([run.pid, ...pids].filter(isRunning)).toEqual([]);
      expect(readExitCode(run.dir)).toBe(137);
    }));

  describe.skipIf(!HAS_PROC)("a process that left the process tree, its session and its environment", () => {
    const startWith = async (place: Place, start: Start, escapee: Escapee, cgroups?: string) => {
      const run = start({ model, cgroups, claude: program(place, `${escapee.command}; exec tail -f /dev/null`) });
      const { pid } = await escapee.started();
      await until("it to be out of the tree", () => !descendants(run.pid).includes(pid));
      return run;
    };

    test("is found by its memory limit", () =>
      withPlace(async (place, start) => {
        using escapee = planEscape();
        const run = await startWith(place, start, escapee);
        expect(await run.cancel(0)).toEqual([]);
        expect(escapee.isRunning()).toBe(false);
      }));

    test.skipIf(!CGROUPS)("is found by its control group, which is then removed", () =>
      withPlace(async (place, start) => {
        using escapee = planEscape("ulimit -m 1000000");
        const run = await startWith(place, start, escapee, CGROUPS);
        const [cgroup = ""] = cgroupsOf(run.dir);
        expect(existsSync(cgroup)).toBe(true);
        expect(await run.cancel(0)).toEqual([]);
        expect(escapee.isRunning()).toBe(false);
        expect(existsSync(cgroup)).toBe(false);
      }),
    );

    test("is left alone when it belongs to another child", () =>
      withPlace(async (place, start) => {
        using mine = planEscape();
        using another = planEscape();
        const first = await startWith(place, start, mine, CGROUPS);
        const second = await startWith(place, start, another, CGROUPS);
        await first.cancel(0);
        expect([mine.isRunning(), another.isRunning()]).toEqual([false, true]);
        await second.cancel(0);
        expect(another.isRunning()).toBe(false);
      }));
  });

  test("leaves another process alone that got the child's pid", () =>
    withPlace(async (place, start) => {
      const run = start({ model, claude: program(place, "exec tail -f /dev/null") });
      const stranger = { ...run, startTime: "1" };
      await stopProcessTree(stranger, { graceMs: 0, dir: join(place.root, "another") });
      expect(isRunning(run.pid)).toBe(true);
      await run.cancel(0);
    }));

  test("does not wait for a child that has no output yet", () =>
    withPlace(async (place, start) => {
      const run = start({ model, claude: program(place, "trap '' INT; exec tail -f /dev/null") });
      const begin = performance.now();
      await run.cancel(20_000);
      expect(performance.now() - begin).toBeLessThan(10_000);
      expect(isRunning(run.pid)).toBe(false);
    }));

  test("returns at once for a child that is gone", () =>
    withPlace(async (place, start) => {
      const run = start({ model, claude: program(place, "true") });
      await run.exited;
      await run.cancel(60_000);
    }));

  test("leaves no process of a child that keeps starting others", () =>
    withPlace(async (place, start) => {
      const run = start({
        model,
        claude: program(place, "trap '' INT; while :; do (setsid sleep 60 &) ; sleep 0.01; done"),
      });
      await until("some work", () => rawOutput(run) === "" && isSameProcess(run));
      await run.cancel(20);
      expect(isRunning(run.pid)).toBe(false);
    }));
});

/** The child's control group, as stored by `launch`. */
function cgroupsOf(dir: string): string[] {
  const { cgroup } = JSON.parse(readFileSync(join(dir, "traces.json"), "utf8"));
  return cgroup ? [cgroup] : [];
}

function program({ root }: Place, body: string): string {
  const path = join(root, "program");
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
