import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { readServerFile } from "../../../src/cli/server/server-file.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { cliEnvironment } from "../../support/claude/cli-environment.ts";
import { startScriptedModel } from "../../support/model/scripted-model.ts";
import { isRunning } from "../../support/processes/processes.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { plexus, plexusOnScreen } from "../support/command.ts";
import { bash, scripted } from "../support/workshop.ts";

setDefaultTimeout(120_000);

const QUESTION = "Allow it? [a]llow";

/** An empty home with two projects of the same name. A server that is started there is stopped at the end. */
async function openMachine() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryDirectory());
  const model = stack.use(startScriptedModel());
  const [home, shop, other] = [join(path, "home"), join(path, "one/my shop!"), join(path, "two/my shop!")];
  for (const folder of [home, shop, other]) mkdirSync(folder, { recursive: true });
  const env = { ...cliEnvironment(home, model.url), HOME: home, PLEXUS_PORT: "0", PLEXUS_CLAUDE: CLAUDE };
  const dataDir = join(home, ".local/state/plexus");
  const call = (args: string[], cwd = shop, stdin?: string) =>
    plexus(args, { env, cwd, ...(stdin !== undefined && { stdin }) });
  stack.defer(async () => void (await call(["stop", "--yes"])));
  const owned = stack.move();
  return {
    home,
    shop,
    other,
    dataDir,
    call,
    onScreen: (args: string[], cwd = shop) =>
      plexusOnScreen(args, { env: { ...env, NO_COLOR: "1" }, cwd, columns: 80 }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe("plexus run with a prompt alone", () => {
  test("starts a server, makes a session named after the directory, and asks; the server goes on until plexus stop", async () => {
    await using machine = await openMachine();
    const screen = machine.onScreen(["run", scripted({ use: [bash("touch made")] })]);
    const shown = await screen.shows(QUESTION);
    expect(shown).toMatch(
      /Started Plexus at http:\/\/127\.0\.0\.1:\d+\. It goes on in the background: `plexus stop` ends/,
    );
    expect(shown).toContain('Session "my shop-" is new, and works in ');
    await Bun.sleep(400);
    screen.type("a");
    expect(await screen.exited).toBe(0);
    expect(existsSync(join(machine.shop, "made"))).toBe(true);
    const pid = readServerFile(machine.dataDir)?.pid ?? 0;
    expect(isRunning(pid)).toBe(true);
    const again = await machine.call(["run", scripted({ say: "again" })]);
    expect(again).toMatchObject({ exitCode: 0, stderr: 'Session "my shop-" goes on.\n' });
    expect(again.stdout).toContain("again");
    const { stdout } = await machine.call(["sessions"]);
    expect(stdout.match(/^my shop-/gm)).toHaveLength(1);
    const url = readServerFile(machine.dataDir)?.url;
    expect(await machine.call(["stop"])).toEqual({ exitCode: 0, stdout: `Stopped ${url}.\n`, stderr: "" });
    expect(isRunning(pid)).toBe(false);
    await screen[Symbol.asyncDispose]();
  });

  test("takes another name for another directory, and for other settings", async () => {
    await using machine = await openMachine();
    await using screen = machine.onScreen(["run", scripted({ say: "first" })]);
    expect(await screen.exited).toBe(0);
    const elsewhere = await machine.call(["run", scripted({ say: "second" })], machine.other);
    expect(elsewhere.stderr).toContain('Session "my shop--2" is new');
    const strict = await machine.call(["run", "--supervision", "strict", scripted({ say: "third" })]);
    expect(strict.stderr).toContain('Session "my shop--3" is new');
    for (const [args, name, cwd] of [
      [[], "my shop-", machine.shop],
      [[], "my shop--2", machine.other],
      [["--supervision", "strict"], "my shop--3", machine.shop],
    ] as const) {
      const { stderr } = await machine.call(["run", ...args, scripted({ say: "more" })], cwd);
      expect(stderr).toBe(`Session "${name}" goes on.\n`);
    }
    expect(await machine.call(["stop"])).toMatchObject({ exitCode: 0 });
  });

  test("takes the prompt from standard input, and no lone name of a session for one", async () => {
    await using machine = await openMachine();
    await using screen = machine.onScreen(["run", "worker", scripted({ say: "named" })]);
    expect(await screen.exited).toBe(0);
    const { exitCode, stdout } = await machine.call(["run", "-"], machine.shop, scripted({ say: "piped" }));
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining("piped") });
    const lone = await machine.call(["run", "worker"]);
    expect(lone).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("plexus run worker PROMPT") });
    expect(await machine.call(["stop"])).toMatchObject({ exitCode: 0 });
  });
});

describe("plexus stop", () => {
  test("says that there is none, with exit code 3", async () => {
    await using machine = await openMachine();
    const { exitCode, stderr } = await machine.call(["stop"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining("there is nothing to stop") });
  });

  test("names what it would end, and ends it only when confirmed", async () => {
    await using machine = await openMachine();
    await using screen = machine.onScreen(["run", scripted({ use: [bash("touch never")] })]);
    await screen.shows(QUESTION);
    const refused = await machine.call(["stop"]);
    const warning = "1 turn would be cancelled, and 1 request would stay undecided.";
    const stderr = `${warning}\nplexus: Nothing was done: there is nobody to ask. --yes stops it.\n`;
    expect(refused).toEqual({ exitCode: 1, stdout: "", stderr });
    expect((await machine.call(["pending"])).stdout).toContain("Bash touch never");
    const pid = readServerFile(machine.dataDir)?.pid ?? 0;
    expect(await machine.call(["stop", "--yes"])).toMatchObject({ exitCode: 0 });
    await until("the server to be gone", () => !isRunning(pid));
    expect(existsSync(join(machine.shop, "never"))).toBe(false);
    screen.type("\u0003\u0003");
    await screen.exited;
  });
});
