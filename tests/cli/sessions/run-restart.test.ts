import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SessionEvent } from "../../../src/contract/sessions/session-view.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { cliEnvironment } from "../../support/claude/cli-environment.ts";
import { startScriptedModel } from "../../support/model/scripted-model.ts";
import { withRun } from "../../support/processes/run.ts";
import { startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { plexus } from "../support/command.ts";
import { scripted } from "../support/workshop.ts";

setDefaultTimeout(120_000);

test("plexus run goes on when the server was killed and is back, and prints each event once", () =>
  withRun(async (mark) => {
    await using directory = await temporaryDirectory();
    await using model = startScriptedModel();
    const home = join(directory.path, "home");
    const dataDir = join(directory.path, "data");
    const cwd = join(directory.path, "work");
    for (const path of [home, dataDir, cwd]) mkdirSync(path);
    const env = { ...cliEnvironment(home, model.url), ...mark };
    const options = { dataDir, cwd, home, args: ["--claude", CLAUDE], env };
    const say = Array.from({ length: 150 }, (_, index) => `${index} `);
    const prompt = scripted({ say, delayMs: 20 });
    await using first = await startServerProcess(options);
    const command = ["run", "outage", "--json", prompt, "--data-dir", dataDir];
    const running = plexus(command, { cwd });
    await until("the model to be asked", () => model.requests.length > 0);
    await first.kill();
    await using second = await startServerProcess(options);
    const { stdout, stderr } = await running;
    expect(second.url).not.toBe(first.url);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => SessionEvent.parse(JSON.parse(line)));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(["complete", "error"]).toContain(events.at(-1)?.event.type ?? "");
    expect(stderr).toContain("No connection to the server. Waiting for it to come back; Ctrl-C leaves.\n");
  }));
