import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CLAUDE } from "../../../support/claude/claude.ts";
import { cliEnvironment } from "../../../support/claude/cli-environment.ts";
import { script, startScriptedModel } from "../../../support/model/scripted-model.ts";
import { withRun } from "../../../support/processes/run.ts";
import { OPERATOR_TOKEN } from "../../../support/server/plexus.ts";
import { type ServerProcess, startServerProcess } from "../../../support/server/server-process.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";
import { isLast, openSessionEvents, type ReadSessionEvent } from "../../streams/session-reader.ts";

setDefaultTimeout(120_000);

test("a session's stream continues after Last-Event-ID when the server was killed: no event is missing or repeated", () =>
  withRun(async (mark) => {
    await using directory = await temporaryDirectory();
    await using model = startScriptedModel();
    const home = join(directory.path, "home");
    const place = join(directory.path, "work");
    for (const path of [home, place, join(directory.path, "data")]) mkdirSync(path);
    const env = { ...cliEnvironment(home, model.url), ...mark };
    const options = {
      dataDir: join(directory.path, "data"),
      home,
      token: OPERATOR_TOKEN,
      args: ["--claude", CLAUDE],
      env,
    };
    const read: ReadSessionEvent[] = [];
    {
      await using first = await startServerProcess(options);
      await post(first, "/sessions", { name: "long", working_dir: place });
      const say = Array.from({ length: 200 }, (_, index) => `${index} `);
      await post(first, "/sessions/long/chat", { prompt: script([{ say, delayMs: 20 }]) });
      await using reader = await openSessionEvents(first.url, "long");
      while (read.length < 4) read.push(await required(reader.next()));
      await first.kill();
    }
    await using second = await startServerProcess(options);
    const after = read.at(-1)?.id ?? "";
    await using reader = await openSessionEvents(second.url, "long", { after });
    read.push(...(await reader.turn()));
    expect(read.map(({ told }) => told.seq)).toEqual(read.map((_, index) => index));
    expect(new Set(read.map(({ told }) => told.turn_id)).size).toBe(1);
    expect(read.filter(isLast)).toHaveLength(1);
    await using whole = await openSessionEvents(second.url, "long");
    expect(await whole.turn()).toEqual(read);
  }));

async function post(server: ServerProcess, path: string, body: object): Promise<void> {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${OPERATOR_TOKEN}` };
  const response = await fetch(`${server.url}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
}

async function required<T>(value: Promise<T | undefined>): Promise<T> {
  const found = await value;
  if (found === undefined) throw new Error("the stream ended");
  return found;
}
