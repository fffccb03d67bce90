import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { permitMessage } from "../../support/mcp/raw-mcp.ts";
import { isRunning, RUN_MARKER, signal, survivors } from "../../support/processes/processes.ts";
import { withRun } from "../../support/processes/run.ts";
import { type BridgeProcess, startBridge } from "../../support/server/bridge-process.ts";
import { OPERATOR_TOKEN, startPlexus } from "../../support/server/plexus.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { plexus } from "../support/command.ts";

setDefaultTimeout(60_000);

const ServerFile = z.object({ pid: z.number(), url: z.string() });
const LIST = { id: 1, method: "tools/list" };

describe("plexus mcp, when no server runs", () => {
  test("starts one that outlives it, with a log of its own, and says so", () =>
    inEmptyPlace(async ({ dataDir, start, serverFile }) => {
      const bridge = start();
      bridge.send(LIST);
      expect(await bridge.answer(1)).toHaveProperty("result.tools");
      const { pid, url } = serverFile();
      expect(bridge.said).toEqual([
        `plexus: Started Plexus at ${url}. It goes on in the background: \`plexus stop\` ends it, ${join(dataDir, "server.log")} is its log.`,
      ]);
      bridge.closeInput();
      expect(await bridge.exited).toBe(0);
      expect(isRunning(pid)).toBe(true);
      expect(readFileSync(join(dataDir, "server.log"), "utf8")).toContain("listening");
      expect(statSync(join(dataDir, "server.log")).mode & 0o777).toBe(0o600);
      const next = start();
      next.send(LIST);
      expect(await next.answer(1)).toHaveProperty("result.tools");
      expect(next.said).toEqual([]);
      expect(serverFile().pid).toBe(pid);
    }));

  test("ends up with one server, however many start at once", () =>
    inEmptyPlace(async ({ start, serverFile, mark }) => {
      const bridges = [start(), start(), start()];
      for (const bridge of bridges) bridge.send(LIST);
      for (const bridge of bridges) expect(await bridge.answer(1)).toHaveProperty("result.tools");
      for (const bridge of bridges) bridge.closeInput();
      for (const bridge of bridges) expect(await bridge.exited).toBe(0);
      await until("one process to be left", () => survivors(mark).length === 1);
      expect(survivors(mark).map(({ pid }) => pid)).toEqual([serverFile().pid]);
    }));

  test("says why it could not be started, with exit code 3", () =>
    inEmptyPlace(async ({ start }) => {
      const bridge = start({ PLEXUS_HOST: "192.0.2.1" });
      expect(await bridge.exited).toBe(3);
      expect(bridge.said.join("\n")).toContain("The server could not be started: plexus: Can't listen on 192.0.2.1");
    }));

  test.each([[["--url", "http://127.0.0.1:9"]], [["--carrier", "--url", "http://127.0.0.1:9"]]])(
    "starts none when it is told where to look: %j",
    (args) =>
      inEmptyPlace(async ({ dataDir, start }) => {
        const bridge = start({ PLEXUS_TOKEN: OPERATOR_TOKEN }, args);
        bridge.send(LIST);
        await bridge.says("No Plexus answers at http://127.0.0.1:9: waiting for it.");
        bridge.kill("SIGTERM");
        expect(await bridge.exited).toBe(0);
        expect(bridge.said).toHaveLength(1);
        expect(existsSync(dataDir)).toBe(false);
      }),
  );

  test("starts none inside a child, with which it would end", () =>
    inEmptyPlace(async ({ dataDir, start }) => {
      const bridge = start({ PLEXUS_CHILD: "some" });
      bridge.send(LIST);
      await bridge.says("No Plexus answers");
      bridge.closeInput();
      expect(await bridge.exited).toBe(0);
      expect(existsSync(dataDir)).toBe(false);
    }));
});

describe("plexus mcp", () => {
  test.each([["stdin's end"], ["SIGTERM"], ["SIGINT"], ["SIGHUP"]] as const)(
    "ends at once on %s, though a permit waits, and lets go of that",
    async (how) => {
      await using server = await startPlexus({ clocks: { abandonAfterMs: 50 } });
      const { token, sessionId } = await server.child();
      await using bridge = startBridge({ args: ["--url", server.url], env: { PLEXUS_TOKEN: token } });
      bridge.send(permitMessage({ command: "ls" }, { toolUseId: "cut short" }));
      const operator = { kind: "operator" } as const;
      const [approval] = await until("the ask", async () => {
        const { approvals } = await server.app.approvals.pending(operator, sessionId, 1);
        return approvals.length > 0 && approvals;
      });
      if (how === "stdin's end") bridge.closeInput();
      else bridge.kill(how);
      expect(await bridge.exited).toBe(0);
      expect(bridge.said).toEqual([]);
      const status = async () => (await server.app.approvals.get(operator, approval?.id ?? "")).status;
      await until("the ask to be abandoned", async () => (await status()) === "abandoned");
    },
  );

  test.each([[[]], [["--carrier"]]])("gives up when its token is refused, and says why: %j", async (args) => {
    await using server = await startPlexus();
    const env = { PLEXUS_TOKEN: "a-token-that-nobody-knows", PLEXUS_URL: server.url };
    await using bridge = startBridge({ args, env });
    bridge.send(permitMessage({ command: "ls" }, { id: 1, toolUseId: "refused" }));
    expect(await bridge.answer(1)).toMatchObject({ error: { message: expect.stringContaining("not known here") } });
    expect(await bridge.exited).toBe(1);
    expect(bridge.said).toHaveLength(1);
    expect(bridge.said[0]).toStartWith(`plexus: The Plexus at ${server.url} refuses this token`);
  });

  test("ends when nobody reads its output any more", async () => {
    await using server = await startPlexus();
    await withRun(async (mark) => {
      const bridge = Bun.spawn(["sh", "-c", `"$0" "$@" | head -n 1 >/dev/null`, ...PROGRAM, "mcp"], {
        env: { PATH: process.env["PATH"], ...mark, PLEXUS_URL: server.url, PLEXUS_TOKEN: OPERATOR_TOKEN },
        stdin: "pipe",
        stdout: "ignore",
        stderr: "ignore",
      });
      const pings = setInterval(() => {
        bridge.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
        void bridge.stdin.flush();
      }, 20);
      await bridge.exited;
      clearInterval(pings);
    });
  });

  test("as a carrier needs its server and its token from the environment", async () => {
    for (const env of [{}, { PLEXUS_URL: "http://127.0.0.1:9" }, { PLEXUS_TOKEN: OPERATOR_TOKEN }]) {
      const { exitCode, stderr } = await plexus(["mcp", "--carrier"], { env });
      expect(stderr).toStartWith("plexus: --carrier needs PLEXUS_URL and PLEXUS_TOKEN");
      expect(exitCode).toBe(2);
    }
  });
});

type EmptyPlace = {
  /** The data dir, which does not exist yet. */
  dataDir: string;
  /** Set in the environment of every process that is started here. */
  mark: string;
  start(env?: Record<string, string>, args?: string[]): BridgeProcess;
  serverFile(): z.infer<typeof ServerFile>;
};

/** A data dir without a server. A server that is started on it is stopped at the end. */
async function inEmptyPlace(body: (place: EmptyPlace) => Promise<void>): Promise<void> {
  await using directory = await temporaryDirectory();
  const dataDir = join(directory.path, "data");
  await withRun(async (marked) => {
    const { [RUN_MARKER]: mark = "" } = marked;
    await using bridges = new AsyncDisposableStack();
    bridges.defer(() => {
      for (const { pid } of survivors(mark)) signal(pid, "SIGTERM");
    });
    await body({
      dataDir,
      mark,
      start: (env = {}, args = ["--data-dir", dataDir]) =>
        bridges.use(
          startBridge({
            args,
            env: { HOME: directory.path, PLEXUS_PORT: "0", PLEXUS_DATA_DIR: dataDir, ...marked, ...env },
          }),
        ),
      serverFile: () => ServerFile.parse(JSON.parse(readFileSync(join(dataDir, "server.json"), "utf8"))),
    });
  });
}
