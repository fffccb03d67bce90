import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CTRL_C, ESCAPE } from "../../../src/cli/terminal/keys.ts";
import { listRules } from "../../../src/contract/routes/rules.ts";
import { hasInvisibleCharacters } from "../../../src/contract/text/unprintable.ts";
import { startServerProcess } from "../../support/server/server-process.ts";
import { until } from "../../support/until.ts";
import { MAIN, plexusOnScreen, type Screen } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";
import { rowsOf } from "../support/screen-rows.ts";
import { type WatchOptions, watchScreen } from "../support/watch-screen.ts";

setDefaultTimeout(60_000);

const REASON = "Reason (shown to the agent)";
const ENTERED = "\u001b[?1049h";
const LEFT = "\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l";

/** The escape sequences that the program itself writes. */
const OURS = new RegExp(`${ESCAPE}\\[(\\?\\d+[hl]|\\d*;?\\d*[HKJm])`, "g");

let place: Place;
let session: string;
beforeEach(async () => {
  place = await openPlace();
  session = await place.session("worker");
});
afterEach(() => place[Symbol.asyncDispose]());

const watch = ({ dataDir = place.dataDir, ...options }: Partial<WatchOptions> = {}) =>
  watchScreen({ dataDir, ...options });

const bash = (command: string) => place.ask(session, "Bash", { command });
/** Right after a change, keys are ignored for a short time, and exactly this time must pass. */
const settled = () => Bun.sleep(400);

/** The interval at which a keyboard repeats a key. */
const REPEAT_MS = 33;

async function press(screen: Screen, key: string): Promise<void> {
  await settled();
  screen.type(key);
}

async function ended(screen: Screen, key: string): Promise<void> {
  screen.type(key);
  expect(await screen.exited).toBe(0);
}

describe("plexus watch", () => {
  test("shows pending requests, oldest first, and new ones as they come; the key a allows the selected one", async () => {
    const first = await bash("touch first");
    await using screen = watch();
    await screen.shows("│ touch first");
    await place.ask(session, "WebFetch", { url: "https://example.org", prompt: "hm" });
    const both = await screen.shows("https://example.org");
    expect(both).toMatch(/▸ worker {2}Bash +\d+s +\w+ +touch first\n {2}worker {2}WebFetch +\d+s +\w+ +https/);
    expect(both).toContain("2 pending");
    await press(screen, "a");
    expect(await first.answer).toEqual({ behavior: "allow", updatedInput: { command: "touch first" } });
    await screen.shows("Allowed Bash of worker.");
    await screen.shows("▸ worker  WebFetch");
    await ended(screen, "q");
  });

  test("asks for the reason of a denial, which the agent reads; Escape goes back", async () => {
    const { answer } = await bash("touch it");
    await using screen = watch();
    await screen.shows("│ touch it");
    screen.type("d");
    await screen.shows(REASON);
    screen.type("no\u001b");
    await until("the question to be gone", () => !screen.now().includes(REASON));
    screen.type("dnot thX\u007fere, plëase\r");
    expect(await answer).toEqual({ behavior: "deny", message: "not there, plëase" });
    await screen.shows("Denied Bash of worker.");
    await screen.shows("No pending requests");
    await ended(screen, CTRL_C);
  });

  test("needs a second press for a dangerous request, and forgets the first one when another key comes between", async () => {
    const { answer } = await bash("rm -rf build");
    await using screen = watch();
    await screen.shows("! it removes files");
    await press(screen, "a");
    await screen.shows("Press a again to allow it, although it removes files");
    screen.type("j");
    await until("the question to be gone", () => !screen.now().includes("Press a again"));
    await press(screen, "a");
    await screen.shows("Press a again");
    expect(await place.pending(session)).toHaveLength(1);
    await press(screen, "a");
    expect(await answer).toMatchObject({ behavior: "allow" });
    await ended(screen, "q");
  });

  test("makes a rule of a request with the key A: as suggested, then as edited, for the session or always", async () => {
    session = await place.managed("here", place.scratch);
    const { answer } = await bash("touch it");
    await using screen = watch();
    await screen.shows("A remembers: allow Bash(touch *)");
    await press(screen, "A");
    await screen.shows("Rule: allow Bash(touch *)█");
    await screen.shows("in this session; would have decided 0 of 0 before");
    screen.type("\u007f\u007f");
    await screen.shows("match has no closing bracket");
    screen.type("other)\r");
    await screen.shows("Not decided: A rule to allow with this match would not decide this request");
    expect(await place.pending(session)).toHaveLength(1);
    screen.type("\u0015Bash(touch it)\t");
    await screen.shows("always; would have decided 0 of 0 before");
    await press(screen, "\r");
    expect(await answer).toMatchObject({ behavior: "allow" });
    await screen.shows("allow Bash(touch it), in every session");
    const { rules } = await place.api.call(listRules);
    expect(rules.filter(({ tier }) => tier !== "builtin")).toMatchObject([
      { decision: "allow", match: "Bash(touch it)" },
    ]);
    await ended(screen, "q");
  });

  test("says why no rule is suggested, takes one that is typed, and asks twice where that is dangerous", async () => {
    session = await place.managed("here", place.scratch);
    const { answer } = await bash("rm -rf build");
    await using screen = watch();
    await screen.shows("! it removes files");
    await press(screen, "A");
    await screen.shows("No rule is suggested: none wider than this very call would be safe.");
    screen.type("x\u001b");
    await until("the rule to be left", () => !screen.now().includes("Rule: allow"));
    screen.type("A");
    await screen.shows("Rule: allow █");
    screen.type("Bash(rm -rf build)");
    await screen.shows("would have decided 0 of 0 before");
    await press(screen, "\r");
    await screen.shows("Press Enter again to allow it, although it removes files");
    expect(await place.pending(session)).toHaveLength(1);
    await press(screen, "\r");
    expect(await answer).toMatchObject({ behavior: "allow" });
    await screen.shows("allow Bash(rm -rf build), in this session");
    await ended(screen, "q");
  });

  test("says why no rule can allow a request, and makes none of it", async () => {
    session = await place.managed("here", place.scratch);
    await bash("touch $X");
    await using screen = watch();
    await screen.shows("it can't be remembered: no rule can allow it, since it is not only literal words");
    expect(screen.now()).not.toContain("A remember");
    await press(screen, "A");
    await screen.shows("It can't be remembered: no rule can allow it");
    expect(screen.now()).not.toContain("Rule: allow");
    await ended(screen, "q");
  });

  test("shows what is outside the grant of its token, and makes no rule of it", async () => {
    const grant = join(place.scratch, "grant.toml");
    writeFileSync(grant, 'grant = ["Bash(npm test)"]\n');
    const PLEXUS_TOKEN = (await place.plexus(["token", "create", "bounded", "--grant", grant])).stdout.trim();
    const env = { PLEXUS_TOKEN };
    const configured = await place.plexus(["configure", "--name", "its-own", "--json"], { env });
    const { session_id } = JSON.parse(configured.stdout);
    await place.ask(session_id, "Bash", { command: "touch it" });
    await using screen = watch({ env });
    await screen.shows("! it is outside your grant: the operator decides");
    await press(screen, "A");
    await screen.shows("It is outside your grant: the operator decides.");
    expect(screen.now()).not.toContain("Rule: allow");
    await ended(screen, "q");
  });

  test("takes a key that is held down for one press, and what is pasted for none", async () => {
    for (const file of ["1", "2", "3"]) await bash(`touch ${file}`);
    await using screen = watch();
    await screen.shows("3 pending");
    await settled();
    screen.type("\u001b[200~aaaddd\u001b[201~");
    for (let repeat = 0; repeat < 40; repeat++) {
      screen.type("a");
      await Bun.sleep(REPEAT_MS);
    }
    await screen.shows("2 pending");
    expect(screen.now()).not.toContain(REASON);
    expect(await place.pending(session)).toHaveLength(2);
    await ended(screen, "q");
  });

  test("says who was faster, and with which decision, where the request was selected", async () => {
    const { id } = await bash("touch it");
    await using screen = watch();
    await screen.shows("│ touch it");
    screen.type("d");
    await screen.shows(REASON);
    await place.plexus(["deny", id, "-m", "I was faster"]);
    const seen = await screen.shows("✗ Bash of worker was denied by operator: I was faster");
    expect(seen).toContain("0 pending");
    expect(seen).not.toContain(REASON);
    await press(screen, "a");
    await ended(screen, "q");
  });

  test("goes on when the server is back, with what was requested and decided meanwhile", async () => {
    const { id } = await bash("touch it");
    await using screen = watch();
    await screen.shows("│ touch it");
    await place.server.kill();
    await screen.shows("no connection, trying again");
    const port = Number(new URL(place.server.url).port);
    await using _ = await startServerProcess({ dataDir: place.dataDir, port });
    await screen.shows("● live");
    await place.plexus(["deny", id, "-m", "after the restart"]);
    await screen.shows("after the restart");
    void place.call("loopback_permit", { session_id: session, tool_name: "Bash", input: { command: "touch new" } });
    await screen.shows("touch new");
    await ended(screen, "q");
  });

  test("shows how a request ended while the server was away", async () => {
    await using brief = await openPlace({ args: ["--approval-timeout-secs", "3"] });
    await using screen = watch({ dataDir: brief.dataDir });
    await screen.shows("● live");
    await brief.ask(await brief.session("brief"), "Bash", { command: "touch it" });
    const deadline = Date.now() + 3_000;
    await screen.shows("│ touch it");
    await brief.server.kill();
    await screen.shows("no connection, trying again");
    await until("the deadline to pass", () => Date.now() > deadline);
    const port = Number(new URL(brief.server.url).port);
    await using _ = await startServerProcess({ dataDir: brief.dataDir, port });
    await screen.shows("✗ Bash of brief was not decided in time");
    await ended(screen, "q");
  });

  test("lets the input be edited; what is not valid is kept, and said why", async () => {
    const { answer } = await bash("touch original");
    const editor = join(place.scratch, "editor");
    const next = (script: string) => writeFileSync(editor, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    next(`printf '{"command": oops' >"$2"; echo "$1" >${place.scratch}/seen`);
    const TMPDIR = join(place.scratch, "tmp");
    mkdirSync(TMPDIR);
    await using screen = watch({ env: { EDITOR: `${editor} --wait`, TMPDIR } });
    await screen.shows("│ touch original");
    screen.type("e");
    await screen.shows("Not used, since it is not valid JSON");
    next(`cp "$2" ${place.scratch}/kept; printf '{"command":"rm -rf edited"}' >"$2"`);
    screen.type("e");
    const seen = await screen.shows("│ rm -rf edited");
    expect(seen).toContain("! it removes files");
    expect(readFileSync(join(place.scratch, "kept"), "utf8")).toBe('{"command": oops');
    expect(readFileSync(join(place.scratch, "seen"), "utf8")).toBe("--wait\n");
    await press(screen, "a");
    await screen.shows("Press a again");
    await press(screen, "a");
    expect(await answer).toEqual({ behavior: "allow", updatedInput: { command: "rm -rf edited" } });
    await ended(screen, "q");
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  test("drops an edit with Escape, and decides nothing by an editor that fails", async () => {
    await bash("touch original");
    const editor = join(place.scratch, "editor");
    writeFileSync(editor, `#!/bin/sh\nprintf '{"command":"touch edited"}' >"$1"\n`, { mode: 0o755 });
    await using screen = watch({ env: { VISUAL: editor, EDITOR: "false" } });
    await screen.shows("│ touch original");
    screen.type("e");
    await screen.shows("│ touch edited");
    screen.type("\u001b");
    await screen.shows("│ touch original");
    writeFileSync(editor, "#!/bin/sh\nexit 3\n");
    screen.type("e");
    await screen.shows("ended with exit code 3");
    expect(await place.pending(session)).toHaveLength(1);
    await ended(screen, "q");
  });

  test("remembers an edited request by a rule of what runs, which is shown before it counts", async () => {
    session = await place.managed("here", place.scratch);
    const { answer } = await bash("pytest $X");
    const editor = join(place.scratch, "editor");
    writeFileSync(editor, `#!/bin/sh\nprintf '{"command":"pytest -q"}' >"$1"\n`, { mode: 0o755 });
    await using screen = watch({ env: { VISUAL: editor } });
    await screen.shows("it can't be remembered");
    screen.type("e");
    await screen.shows("│ pytest -q");
    await screen.shows("A remember");
    await press(screen, "A");
    await screen.shows("Rule: allow Bash(pytest *)█");
    expect(await place.pending(session)).toHaveLength(1);
    await press(screen, "\r");
    expect(await answer).toEqual({ behavior: "allow", updatedInput: { command: "pytest -q" } });
    await screen.shows("allow Bash(pytest *), in this session");
    await ended(screen, "q");
  });

  test("shows an edit as a diff against the file, and the rest of a long one when it is scrolled", async () => {
    const file = join(place.scratch, "server.ts");
    const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`);
    writeFileSync(file, `const port = 80;\n${lines.join("\n")}\n`);
    const editing = await place.managed("editor", place.scratch);
    await place.ask(editing, "Edit", { file_path: file, old_string: "port = 80", new_string: "port = 8080" });
    await place.ask(editing, "Write", { file_path: file, content: lines.map((text) => text.toUpperCase()).join("\n") });
    await using screen = watch();
    const diff = await screen.shows("│ +const port = 8080;");
    expect(diff).toContain("│ -const port = 80;");
    expect(diff).toContain("│  line 2");
    expect(diff).not.toContain("line 3");
    screen.type("j");
    await screen.shows("│ -const port = 80;");
    expect(screen.now()).not.toContain("LINE 39");
    for (let page = 0; page < 10; page++) screen.type("\u001b[6~");
    await screen.shows("│ +LINE 39");
    await ended(screen, "q");
  });

  test("shows where a path really leads, and takes a second press for it", async () => {
    const ssh = join(place.scratch, "home", ".ssh");
    mkdirSync(ssh, { recursive: true });
    const work = join(place.scratch, "work");
    mkdirSync(work);
    symlinkSync(ssh, join(work, "docs"));
    const id = await place.managed("linked", work);
    const { answer } = await place.ask(id, "Write", { file_path: join(work, "docs/authorized_keys"), content: "key" });
    await using screen = watch();
    const seen = await screen.shows(`real path: ${ssh}/authorized_keys`.slice(0, 80));
    expect(seen).toContain("! it changes a file that runs later");
    await press(screen, "a");
    await screen.shows("Press a again");
    expect(await place.pending(id)).toHaveLength(1);
    await press(screen, "a");
    expect(await answer).toMatchObject({ behavior: "allow" });
    await ended(screen, "q");
  });

  test("shows where the paths of a command really lead, and takes a second press for it", async () => {
    const work = join(place.scratch, "work");
    mkdirSync(work);
    symlinkSync("/etc/hostname", join(work, "hn"));
    symlinkSync("/etc/passwd", join(work, "pw"));
    const id = await place.managed("linked", work);
    const { answer } = await place.ask(id, "Bash", { command: "cat hn >> pw" });
    await using screen = watch();
    const seen = await screen.shows("real path: /etc/passwd");
    expect(seen).toContain("real path: /etc/hostname");
    expect(seen).toContain("! it changes /etc/passwd, outside the working directory");
    await press(screen, "a");
    await screen.shows("Press a again");
    await press(screen, "a");
    expect(await answer).toMatchObject({ behavior: "allow" });
    await ended(screen, "q");
  });

  test("shows whatever changes how a command runs", async () => {
    const command = "make";
    const input = { command, run_in_background: true, dangerouslyDisableSandbox: true, timeout: 600_000, newer: ["x"] };
    await place.ask(session, "Bash", input);
    await using screen = watch();
    const seen = await screen.shows("│ make");
    for (const shown of ["run_in_background: true", "dangerouslyDisableSandbox: true", "timeout: 600000"]) {
      expect(seen).toContain(`│ ${shown}`);
    }
    expect(seen).toContain("│ newer: [");
    await ended(screen, "q");
  });

  test("shows what a skill says, and that allowing it allows more", async () => {
    const skill = join(place.scratch, ".claude/skills/deploy");
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), "---\nallowed-tools: Bash(*)\n---\nDeploy it all.\n");
    await place.ask(await place.managed("skilled", place.scratch), "Skill", { skill: "deploy" });
    await using screen = watch();
    const seen = await screen.shows("│ Deploy it all.");
    expect(seen).toContain("│ allowed-tools: Bash(*)");
    expect(seen).toContain("lets its allowed tools run without asking");
    await ended(screen, "q");
  });

  test("answers questions with digits and Enter, and lets none go unanswered by one press", async () => {
    const questions = [
      {
        question: "Which database?",
        header: "",
        multiSelect: false,
        options: [{ label: "SQLite" }, { label: "Postgres" }],
      },
      {
        question: "Which tests?",
        header: "",
        multiSelect: true,
        options: [{ label: "unit" }, { label: "e2e" }, { label: "load" }],
      },
    ];
    const first = await place.ask(session, "AskUserQuestion", { questions });
    const second = await place.ask(session, "AskUserQuestion", { questions });
    await using screen = watch();
    await screen.shows("│ ▸ Which database?");
    await press(screen, "a");
    await screen.shows("Press a again to allow it, although it continues without an answer");
    screen.type("2");
    await screen.shows("2 [x] Postgres");
    await screen.shows("│ ▸ Which tests?");
    await press(screen, "a");
    await screen.shows("Enter sends your answers, Esc drops them.");
    await press(screen, "\r");
    await screen.shows("Choose an answer with 1-9 first");
    expect(await place.pending(session)).toHaveLength(2);
    for (const digit of ["3", "2", "1", "2"]) screen.type(digit);
    await screen.shows("2 [ ] e2e");
    await press(screen, "\r");
    const answers = { "Which database?": "Postgres", "Which tests?": "unit, load" };
    expect(await first.answer).toEqual({ behavior: "allow", updatedInput: { questions, answers } });
    await screen.shows("1 pending");
    await press(screen, "a");
    await screen.shows("Press a again");
    await press(screen, "a");
    expect(await second.answer).toEqual({ behavior: "allow", updatedInput: { questions } });
    await ended(screen, "q");
  });

  test("makes visible what a child hides, and lets none of it touch the screen", async () => {
    const hostile = "echo \u001b[2J\u001b[31m\u202e\u2066\u200b\u{e0041}\r\u009b31m\u007fend\u001b]0;title\u0007";
    await place.ask(session, `Bash${hostile}`, { command: hostile, nested: { text: hostile } });
    await bash(hostile);
    await using screen = watch();
    await screen.shows("\\u{202e}");
    await screen.shows("2 pending");
    screen.type("j");
    await screen.shows("! it has invisible characters");
    await ended(screen, "q");
    const written = screen.text().replaceAll(OURS, "").replaceAll("\n", "").replaceAll("\r", "");
    expect(hasInvisibleCharacters(written)).toBe(false);
  });

  test("fits any size, and a new one at once", async () => {
    await bash("touch it");
    await bash(`echo ${"長い".repeat(200)}`);
    await using screen = watch();
    await screen.shows("│ touch it");
    for (const [columns, rows] of [
      [40, 10],
      [20, 5],
      [10, 3],
      [200, 60],
    ] as const) {
      const before = screen.text().length;
      screen.resize(columns, rows);
      await until("another frame", () => screen.text().slice(before).includes("touch"));
      const shown = rowsOf(screen.text().slice(before));
      expect(shown.length).toBeLessThanOrEqual(rows);
      for (const row of shown) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(columns);
    }
    await ended(screen, "q");
  });

  test.each(["q", "Ctrl-C", "SIGTERM", "SIGHUP"])("gives the terminal back after %s", async (how) => {
    await using screen = watch();
    await screen.shows("No pending requests");
    expect(screen.text()).toContain(ENTERED);
    if (how === "q") screen.type("q");
    else if (how === "Ctrl-C") screen.type(CTRL_C);
    else process.kill(screen.pid, how);
    expect(await screen.exited).toBe(0);
    expect(screen.text()).toEndWith(LEFT);
  });

  test("gives the terminal back before it tells of a bug of its own", async () => {
    const crash = join(place.scratch, "crash.ts");
    writeFileSync(crash, 'process.on("SIGUSR2", () => setTimeout(() => { throw new Error("a bug"); }));');
    await using screen = plexusOnScreen(["watch", "--data-dir", place.dataDir], {
      program: [process.execPath, "--preload", crash, MAIN],
      env: { NO_COLOR: "1" },
    });
    await screen.shows("No pending requests");
    process.kill(screen.pid, "SIGUSR2");
    expect(await screen.exited).toBe(1);
    const [before = "", after = ""] = screen.text().split(LEFT);
    expect(before).not.toContain("a bug");
    expect(after).toContain("error: a bug");
  });

  test("leaves, and says why, when its token is revoked", async () => {
    const created = await place.plexus(["token", "create", "gone"]);
    await using screen = watch({ env: { PLEXUS_TOKEN: created.stdout.trim() } });
    await screen.shows("No pending requests");
    await place.plexus(["token", "revoke", "gone"]);
    expect(await screen.exited).toBe(1);
    expect(screen.text()).toContain(`${LEFT}plexus: This token is not known here, or was revoked.`);
  });

  test("draws one frame, however many wait", async () => {
    for (let n = 0; n < 240; n++)
      void place.call("loopback_permit", { session_id: session, tool_name: "Bash", input: { command: `echo ${n}` } });
    await using screen = watch({ rows: 30 });
    await screen.shows("240 pending");
    const before = screen.text().length;
    screen.type("G");
    await screen.shows("request 240/240");
    // One frame, however long the list is.
    expect(screen.text().length - before).toBeLessThan(8_000);
    await ended(screen, "q");
  });

  test("says what to do where there is no terminal, or no server", async () => {
    const piped = await place.plexus(["watch"]);
    expect(piped).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "plexus: watch needs a terminal: elsewhere, `plexus pending --json` lists pending requests.\n",
    });
    const nowhere = plexusOnScreen(["watch", "--url", "http://127.0.0.1:1"]);
    expect(await nowhere.exited).toBe(3);
    expect(nowhere.text()).not.toContain(ENTERED);
    await nowhere[Symbol.asyncDispose]();
  });
});
