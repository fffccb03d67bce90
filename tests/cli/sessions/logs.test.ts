import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createSession, listSessions } from "../../../src/contract/routes/sessions.ts";
import { listTurns } from "../../../src/contract/routes/turns.ts";
import { SessionEvent } from "../../../src/contract/sessions/session-view.ts";
import { TranscriptHit } from "../../../src/contract/sessions/transcript-hit.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { until } from "../../support/until.ts";
import { pasted } from "../support/command.ts";
import { openWorkshop, scripted, type Workshop } from "../support/workshop.ts";

setDefaultTimeout(120_000);

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop[Symbol.asyncDispose]());

const run = (name: string, say: string) => shop.plexus(["run", name, scripted({ say })]);
const done = /✓ done: [^\n]*\n/;

describe("plexus logs", () => {
  test("shows the newest turn as run did, or the one that is named", async () => {
    const first = await run("talker", "said first");
    const second = await run("talker", "said second");
    expect(await shop.plexus(["logs", "talker"])).toEqual({ exitCode: 0, stdout: second.stdout, stderr: "" });
    const { turns } = await shop.api.call(listTurns, { params: { key: "talker" } });
    const oldest = turns.at(-1)?.turn_id ?? "";
    const named = await shop.plexus(["logs", "talker", "--turn", oldest]);
    expect(named).toEqual({ exitCode: 0, stdout: first.stdout, stderr: "" });
    const { stdout } = await shop.plexus(["logs", "talker", "--json"]);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => SessionEvent.parse(JSON.parse(line)));
    expect(new Set(events.map(({ turn_id }) => turn_id))).toEqual(new Set([turns[0]?.turn_id ?? ""]));
  });

  test("with --search lists where a text stands in all turns, newest first", async () => {
    await run("searched", "the lost word");
    await run("searched", "nothing");
    await run("searched", "a LOST word, and another");
    const { exitCode, stdout } = await shop.plexus(["logs", "searched", "--search", "lost word"]);
    const lines = stdout.trimEnd().split("\n");
    expect({ exitCode, head: lines[0] }).toEqual({
      exitCode: 0,
      head: expect.stringMatching(/^AT +TURN +WHERE +TEXT$/),
    });
    const messages = lines.filter((line) => line.includes("  Message  "));
    expect(messages.map((line) => line.split("  Message  ")[1]?.trim())).toEqual([
      "a LOST word, and another",
      "the lost word",
    ]);
    const asked = await shop.plexus(["logs", "searched", "--search", "lost word", "--limit", "1", "--json"]);
    expect(TranscriptHit.parse(JSON.parse(asked.stdout))).toMatchObject({ type: "content" });
    const none = await shop.plexus(["logs", "searched", "--search", "never said"]);
    expect(none).toEqual({ exitCode: 0, stdout: "", stderr: "Nothing in this session matches.\n" });
  });

  test("with -f shows what happens over two turns, until its reader goes", async () => {
    await run("followed", "said before");
    await using screen = shop.onScreen(["logs", "followed", "-f"]);
    await screen.shows("said before");
    for (const say of ["said then", "said at last"]) {
      await run("followed", say);
      await screen.shows(say);
    }
    const all = await until("both ends", () => screen.text().split(done).length === 4 && screen.text());
    expect(all.split(done).map((part) => part.trim())).toEqual(["│ said before", "│ said then", "│ said at last", ""]);
  });

  test("with -f ends when its reader has seen enough", async () => {
    await run("headed", "one line");
    const command = `${PROGRAM.join(" ")} logs headed -f --json --data-dir ${shop.dataDir} | head -n 1`;
    const running = pasted(command);
    await run("headed", "another line");
    await run("headed", "and another");
    const { stdout, stderr } = await running;
    expect(stdout.split("\n")).toHaveLength(2);
    expect(stderr).toBe("");
  });

  test("says that there was no turn yet, and that there is no such session", async () => {
    await shop.api.call(createSession, { body: { name: "fresh", working_dir: shop.work } });
    const fresh = await shop.plexus(["logs", "fresh"]);
    expect(fresh).toEqual({ exitCode: 0, stdout: "", stderr: 'Session "fresh" has had no turn yet.\n' });
    const { stderr, ...unknown } = await shop.plexus(["logs", "nobody"]);
    expect(stderr).toStartWith('plexus: There is no session "nobody". You have: "fresh", ');
    expect(unknown).toEqual({ exitCode: 1, stdout: "" });
    const turn = await shop.plexus(["logs", "fresh", "--turn", crypto.randomUUID()]);
    expect(turn).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("There is no turn") });
  });
});

describe("plexus sessions", () => {
  test("lists them newest first, as a table and as JSON, with owners and ids where there are several", async () => {
    await run("listed", "x");
    const table = await shop.plexus(["sessions"]);
    expect(table.stdout).toMatch(/^NAME +STATUS +PENDING +COST +AGE +DIRECTORY\nlisted +done +– +\$0\.\d{4} +\d+s +\//);
    const token = (await shop.plexus(["token", "create", "ann"])).stdout.trim();
    const env = { PLEXUS_TOKEN: token };
    expect(await shop.plexus(["sessions"], { env })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "There are no sessions: `plexus run PROMPT` makes one.\n",
    });
    expect(await shop.plexus(["run", "hers", scripted({ say: "y" })], { env })).toMatchObject({ exitCode: 0 });
    const { stdout } = await shop.plexus(["sessions", "--json"]);
    const [hers, listed] = listSessions.answer.pick({ sessions: true }).parse(JSON.parse(stdout)).sessions;
    expect([hers?.name, hers?.owner, listed?.name, listed?.owner]).toEqual(["hers", "token:ann", "listed", "operator"]);
    const shared = (await shop.plexus(["sessions"])).stdout;
    expect(shared).toMatch(new RegExp(`^NAME .* OWNER +ID +DIRECTORY\nhers .* token:ann +${hers?.id} +/`));
    expect((await shop.plexus(["logs", hers?.id ?? ""])).stdout).toStartWith("│ y\n");
  });
});
