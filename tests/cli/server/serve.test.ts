import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { followEvents } from "../../../src/contract/routes/events.ts";
import { isAlive } from "../../../src/contract/routes/server.ts";
import { withRun } from "../../support/processes/run.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { plexus, plexusOnScreen } from "../support/command.ts";
import { openPlace } from "../support/place.ts";

setDefaultTimeout(60_000);

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

describe("plexus serve", () => {
  test("logs JSON lines, the first of which says where it listens", async () => {
    await using place = await openPlace();
    expect(JSON.parse(place.server.log[0] ?? "")).toMatchObject({
      level: "info",
      message: "listening",
      url: place.server.url,
      pid: place.server.pid,
      data_dir: place.dataDir,
    });
  });

  test("says who holds the data dir when it is started twice, in one line", async () => {
    await using place = await openPlace();
    const second = await place.plexus(["serve", "--port", "0"]);
    expect(second.stderr).toBe(
      `plexus: Another Plexus serves ${place.dataDir}: process ${place.server.pid}, listening on ${place.server.url}. Stop it, take over from it with --takeover, or choose another --data-dir.\n`,
    );
    expect(second).toMatchObject({ exitCode: 1, stdout: "" });
    expect((await fetch(`${place.server.url}${isAlive.path}`)).status).toBe(200);
  });

  test("says that the data dir is held though its holder has not said yet where it listens", async () => {
    await using directory = await temporaryDirectory();
    using lock = new Database(join(directory.path, "lock.db"), { create: true });
    lock.run("BEGIN EXCLUSIVE");
    const { exitCode, stderr } = await plexus(["serve", "--port", "0", "--data-dir", directory.path]);
    expect(stderr).toMatch(
      /^plexus: Another Plexus serves \S+: a process that is just starting or stopping\. [^\n]*\n$/,
    );
    expect(exitCode).toBe(1);
  });

  test("says in one line that the port is in use", async () => {
    await using place = await openPlace();
    await using directory = await temporaryDirectory();
    const { port } = new URL(place.server.url);
    const { exitCode, stderr } = await plexus(["serve", "--port", port, "--data-dir", directory.path]);
    expect(stderr).toMatch(/^plexus: .*port is in use.*\n$/);
    expect(exitCode).toBe(1);
  });

  test.each<[string, string[], Record<string, string>]>([
    ["--port", ["--port", "abc"], {}],
    ["--port", ["--port", ""], {}],
    ["--port", ["--port", "65536"], {}],
    ["--host", ["--host", "a b"], {}],
    ["--auth", ["--auth", "maybe"], {}],
    ["--approval-timeout-secs", ["--approval-timeout-secs", "0"], {}],
    ["--retention-days", ["--retention-days", "-1"], {}],
    ["--log-level", ["--log-level", "\u001b[31mloud\nand more"], {}],
    ["--nonsense", ["--nonsense"], {}],
    ["serve takes options alone", ["extra"], {}],
    ["--auth none is refused on 0.0.0.0", ["--auth", "none", "--host", "0.0.0.0"], {}],
    ["--auth none is refused on 192.0.2.1", [], { PLEXUS_AUTH: "none", PLEXUS_HOST: "192.0.2.1" }],
    ["PLEXUS_PORT", [], { PLEXUS_PORT: "x" }],
    ["PLEXUS_TOKEN", [], { PLEXUS_TOKEN: "short secret" }],
  ])("refuses a bad value in one line that names %s, with exit code 2: %j %j", async (named, args, env) => {
    const { exitCode, stdout, stderr } = await plexus(["serve", ...args], { env });
    expect(stderr).toMatch(/^plexus: [ -~]*\n$/);
    expect(stderr).toContain(named);
    expect(stderr).not.toContain("short secret");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  test("says in one line that a data dir is none", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "file");
    await writeFile(file, "");
    for (const dataDir of [file, join(file, "below")]) {
      const { exitCode, stderr } = await plexus(["serve", "--port", "0", "--data-dir", dataDir]);
      expect(stderr).toMatch(
        /^plexus: The data dir \S+ can't be used \([^\n]*(EEXIST|ENOTDIR)[^\n]*choose another with --data-dir\.\n$/,
      );
      expect(exitCode).toBe(1);
    }
  });

  test("warns in its log when it asks for no tokens", async () => {
    await using place = await openPlace({ args: ["--auth", "none"] });
    const warnings = place.server.log.map((line) => JSON.parse(line)).filter((entry) => entry.level === "warn");
    expect(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining("--auth none") })]);
  });

  test.each(SIGNALS)("exits 0 within seconds of %s, though a permit waits and events are followed", async (signal) => {
    await using place = await openPlace();
    await place.ask(await place.session(), "Bash", { command: "true" });
    const events = (await place.api.open(followEvents)).body?.getReader();
    await events?.read();
    const startedAt = performance.now();
    expect(await place.server.stop(signal)).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(existsSync(join(place.dataDir, "server.json"))).toBe(false);
  });

  test("exits 0 though the signal comes many times", async () => {
    await using place = await openPlace();
    await place.ask(await place.session(), "Bash", { command: "true" });
    for (const signal of SIGNALS) process.kill(place.server.pid, signal);
    expect(await place.server.stop("SIGHUP")).toBe(0);
  });

  test("keeps what waits across a restart", async () => {
    await using place = await openPlace();
    const { id } = await place.ask(await place.session(), "Bash", { command: "true" });
    await place.server.stop("SIGTERM");
    await using _ = await startServerProcess({ dataDir: place.dataDir });
    const { stdout } = await place.plexus(["pending"]);
    expect(stdout).toContain(id);
  });

  test("ends when the window that it runs in is closed", async () => {
    await using directory = await temporaryDirectory();
    await using screen = plexusOnScreen(["serve", "--port", "0", "--data-dir", directory.path]);
    await screen.shows("listens on");
    screen.close();
    expect(await screen.exited).toBe(0);
  });

  test("still stops cleanly when its log is no longer read", async () => {
    await using directory = await temporaryDirectory();
    const serverFile = join(directory.path, "server.json");
    await withRun(async (mark) => {
      const server = Bun.spawn([...PROGRAM, "--port", "0", "--data-dir", directory.path], {
        env: { PATH: process.env["PATH"], HOME: directory.path, ...mark },
        stdout: "ignore",
        stderr: "pipe",
      });
      await until("the server to listen", () => existsSync(serverFile));
      await server.stderr.cancel();
      server.kill("SIGTERM");
      expect(await server.exited).toBe(0);
    });
  });
});
