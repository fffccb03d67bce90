import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cancelTurn } from "../../../src/contract/routes/sessions.ts";
import { descendants, signal } from "../../support/processes/processes.ts";
import { until } from "../../support/until.ts";
import type { Screen } from "../support/command.ts";
import { bash, openWorkshop, scripted, type Workshop } from "../support/workshop.ts";

setDefaultTimeout(120_000);

const CTRL_C = "\u0003";
const ERASE_ROW = "\r\u001b[K";
const QUESTION = "Allow it? [a]llow  [A]nd remember  [d]eny  [e]dit  [s]kip  [?] ";
const QUESTION_WITHOUT_RULE = "Allow it? [a]llow  [d]eny  [e]dit  [s]kip  [?] ";
const REASON = "Reason (shown to the agent)";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop[Symbol.asyncDispose]());

const touch = (file: string) => scripted({ use: [bash(`touch ${file}`)] });
/** Right after a change, keys are ignored for a short time, and exactly this time must pass. */
const settled = () => Bun.sleep(400);

/** The interval at which a keyboard repeats a key. */
const REPEAT_MS = 33;

async function press(screen: Screen, key: string): Promise<void> {
  await settled();
  screen.type(key);
}

const made = (file: string) => existsSync(join(shop.work, file));

describe("plexus run on a terminal", () => {
  test("shows a request, and the key a lets the child go on", async () => {
    await using screen = shop.onScreen(["run", "allowed", touch("by-key")]);
    const shown = await screen.shows(QUESTION);
    expect(shown).toContain("│ touch by-key\r\n");
    expect(made("by-key")).toBe(false);
    await press(screen, "a");
    expect(await screen.exited).toBe(0);
    expect(made("by-key")).toBe(true);
    expect(after(screen.text(), QUESTION).replace("\u001b[?2004l", "")).toStartWith(
      `${ERASE_ROW}✓ Bash was allowed by operator\r\n`,
    );
  });

  test("makes a rule of a request with the key A, which decides the next one like it", async () => {
    const twice = scripted({ use: [bash("touch ruled")] }, { use: [bash("touch ruled")] });
    await using screen = shop.onScreen(["run", "ruled", twice]);
    expect(await screen.shows(QUESTION)).toContain("A remembers: allow Bash(touch *)");
    await press(screen, "A");
    await screen.shows("Rule: allow Bash(touch *)█  session 0 of 0");
    screen.type("\r");
    expect(await screen.exited).toBe(0);
    expect(screen.text()).toMatch(/Allowed\. Rule \w{8}: allow Bash\(touch \*\), in this session\./);
    expect(screen.text()).toMatch(/✓ Bash was allowed by operator\r\n[\s\S]*✓ Bash was allowed by a rule \(/);
  });

  test("warns of a dangerous request, and takes a second press for it", async () => {
    const command = "rm -rf danger && touch dangerous";
    await using screen = shop.onScreen(["run", "dangerous", scripted({ use: [bash(command)] })]);
    const shown = await screen.shows(QUESTION_WITHOUT_RULE);
    expect(shown).toContain("! it removes files");
    expect(shown).toContain("it can't be remembered: no rule can allow it, since its parts need rules of");
    await press(screen, "a");
    await screen.shows("Press a again to allow it, although it removes files");
    expect(await shop.asked("dangerous")).toMatchObject({ status: "pending" });
    await press(screen, "a");
    expect(await screen.exited).toBe(0);
    expect(made("dangerous")).toBe(true);
  });

  test("shows an edit as the difference that it makes to the file", async () => {
    const file_path = join(shop.work, "notes.txt");
    writeFileSync(file_path, "one\ntwo\nthree\n");
    const edit = { name: "Edit", input: { file_path, old_string: "two", new_string: "2" } };
    const read = { name: "Read", input: { file_path } };
    await using screen = shop.onScreen(["run", "editing", scripted({ use: [read] }, { use: [edit] })]);
    const shown = await screen.shows(QUESTION);
    for (const line of ["│  one", "│ -two", "│ +2", "│  three"]) expect(shown).toContain(`${line}\r\n`);
    await press(screen, "a");
    expect(await screen.exited).toBe(0);
    expect(readFileSync(file_path, "utf8")).toBe("one\n2\nthree\n");
  });

  test("lets the input be edited, and allows it as edited", async () => {
    const editor = join(shop.scratch, "editor");
    writeFileSync(editor, `#!/bin/sh\nprintf '{"command":"touch as-edited","description":"x"}' >"$1"\n`, {
      mode: 0o755,
    });
    await using screen = shop.onScreen(["run", "edited", touch("as-asked")], { shell: `VISUAL=${editor} exec "$@"` });
    await screen.shows(QUESTION);
    screen.type("e");
    await screen.shows("│ touch as-edited\r\n");
    await screen.shows("Edited. Press a to allow it like this");
    await press(screen, "a");
    // The server has not checked where the path in the edited command leads.
    await screen.shows("Press a again to allow it, although it names as-edited");
    await press(screen, "a");
    expect(await screen.exited).toBe(0);
    expect([made("as-asked"), made("as-edited")]).toEqual([false, true]);
  });

  test("leaves the terminal to the editor, and shows what has happened meanwhile afterwards", async () => {
    const [editor, go] = [join(shop.scratch, "slow-editor"), join(shop.scratch, "go")];
    const waits = `echo editing; until [ -e ${go} ]; do sleep 0.05; done; echo edited`;
    writeFileSync(editor, `#!/bin/sh\n${waits}\n`, { mode: 0o755 });
    await using screen = shop.onScreen(["run", "away", touch("away")], { shell: `VISUAL=${editor} exec "$@"` });
    await screen.shows(QUESTION);
    screen.type("e");
    await screen.shows("editing\r\n");
    await shop.plexus(["deny", (await shop.asked("away")).id, "-m", "too slow"]);
    await until("the turn to be over", async () => (await shop.statusOf("away")) === "complete");
    writeFileSync(go, "");
    expect(await screen.exited).toBe(0);
    expect(after(screen.text(), "edited\r\n")).toContain("✗ Bash was denied by operator: too slow");
  });

  test("answers a question with a digit and Enter; the key a alone does not let it go", async () => {
    const options = [
      { label: "SQLite", description: "a file" },
      { label: "Postgres", description: "a server" },
    ];
    const question = { question: "Which database?", header: "DB", multiSelect: false, options };
    const ask = { name: "AskUserQuestion", input: { questions: [question] } };
    await using screen = shop.onScreen(["run", "questioned", scripted({ use: [ask] })]);
    const shown = await screen.shows("[Enter] answer");
    expect(shown).toContain("2 [ ] Postgres: a server\r\n");
    await press(screen, "a");
    await screen.shows("Press a again to allow it, although it continues without an answer");
    screen.type("2");
    await until("the choice", () => after(screen.text(), "[Enter] answer").includes("Postgres"));
    await press(screen, "a");
    await screen.shows("Enter sends your answers, Esc drops them.");
    expect(await shop.asked("questioned")).toMatchObject({ status: "pending" });
    await press(screen, "\r");
    expect(await screen.exited).toBe(0);
    expect(JSON.stringify(shop.model.requests.at(-1)?.conversation)).toMatch(/Which database\?[^}]*Postgres/);
  });

  test("shows a plan as text and asks for it, and the child leaves plan mode or reads why not", async () => {
    const plan = "1. Touch the file\n2. Say so\u001b[2J";
    const planning = scripted(
      { use: [{ name: "EnterPlanMode", input: {} }] },
      { use: [{ name: "ExitPlanMode", input: { plan } }] },
      { use: [{ name: "ExitPlanMode", input: { plan } }] },
      { say: "The plan stands." },
    );
    await using screen = shop.onScreen(["run", "planner", planning]);
    await screen.shows(QUESTION_WITHOUT_RULE);
    await press(screen, "a");
    await until("the plan", () => after(screen.text(), "EnterPlanMode was allowed").includes(QUESTION_WITHOUT_RULE));
    const asked = after(screen.text(), "EnterPlanMode was allowed");
    expect(asked).toContain("│ 1. Touch the file\r\n│ 2. Say so\\u{1b}[2J\r\n");
    expect(asked).not.toContain("{}");
    await press(screen, "d");
    await screen.shows(REASON);
    screen.type("more steps\r");
    await until("the plan again", () => after(screen.text(), ": more steps").includes(QUESTION_WITHOUT_RULE));
    expect(after(screen.text(), ": more steps")).toContain("│ 1. Touch the file\r\n");
    // The text contains invisible characters.
    await press(screen, "a");
    await screen.shows("Press a again");
    await press(screen, "a");
    expect(await screen.exited).toBe(0);
    expect(screen.text()).toContain("✓ ExitPlanMode was allowed by operator\r\n");
    const read = JSON.stringify(shop.model.requests.at(-1)?.conversation);
    expect(read).toContain("more steps");
    expect(read).toContain("approved exiting plan mode");
  });

  test("takes no key that was held down when the question came", async () => {
    await using screen = shop.onScreen(["run", "held", touch("held")]);
    for (let more = 20; more > 0; more -= screen.text().includes(QUESTION) ? 1 : 0) {
      screen.type("a");
      await Bun.sleep(REPEAT_MS);
    }
    expect(await shop.asked("held")).toMatchObject({ status: "pending" });
    await press(screen, "a");
    expect(await screen.exited).toBe(0);
    expect(made("held")).toBe(true);
  });

  test("takes nothing that is pasted for a key", async () => {
    await using screen = shop.onScreen(["run", "pasted", touch("pasted")]);
    await screen.shows(`\u001b[?2004h`);
    await screen.shows(QUESTION);
    await press(screen, "\u001b[200~aaa\u001b[201~d");
    await screen.shows(REASON);
    expect(await shop.asked("pasted")).toMatchObject({ status: "pending" });
    screen.type("\r");
    expect(await screen.exited).toBe(0);
    expect(screen.text()).toContain("\u001b[?2004l");
    expect(made("pasted")).toBe(false);
  });

  test("takes a reason with the key d, edited as it is typed, which the child reads", async () => {
    await using screen = shop.onScreen(["run", "denied", touch("denied")]);
    await screen.shows(QUESTION);
    screen.type("d");
    await screen.shows(REASON);
    for (const keys of ["no", "\u0015", "not hereX", "\u007f", ", plëase", "\u001b[D"]) screen.type(keys);
    await screen.shows("not here, plëase");
    screen.type("\r");
    expect(await screen.exited).toBe(0);
    expect(screen.text()).toContain("✗ Bash was denied by operator: not here, plëase\r\n");
    expect(JSON.stringify(shop.model.requests.at(-1)?.conversation)).toContain("not here, plëase");
    expect(made("denied")).toBe(false);
  });

  test("goes back from the reason with Escape, and leaves the decision to others with s", async () => {
    await using screen = shop.onScreen(["run", "skipped", touch("skipped")]);
    await screen.shows(QUESTION);
    screen.type("d");
    await screen.shows(REASON);
    screen.type("\u001b");
    await until("the question again", () => after(screen.text(), REASON).includes(QUESTION));
    screen.type("s");
    const { id } = await shop.asked("skipped");
    await screen.shows(`\`plexus allow ${id.slice(-4)}\``);
    await shop.plexus(["allow", id.slice(-4)]);
    expect(await screen.exited).toBe(0);
    expect(made("skipped")).toBe(true);
  });

  test("takes the question away when somebody else is first, and says who", async () => {
    await using screen = shop.onScreen([
      "run",
      "raced",
      scripted({ use: [bash("touch r1")] }, { use: [bash("touch r2")] }),
    ]);
    await screen.shows(QUESTION);
    await shop.plexus(["deny", (await shop.asked("raced")).id, "-m", "I was faster"]);
    await screen.shows("✗ Bash was denied by operator: I was faster");
    // The next request gets a new question.
    await until("the next question", () => after(screen.text(), "touch r2").includes(QUESTION));
    await press(screen, "a");
    expect(await screen.exited).toBe(0);
    expect([made("r1"), made("r2")].filter(Boolean)).toHaveLength(1);
  });

  test("decides nothing by keys that were pressed before the question", async () => {
    const prompt = scripted({ use: [bash("touch early")], waitFor: "early" });
    await using screen = shop.onScreen(["run", "early", prompt]);
    await until("the turn to run", async () => (await shop.statusOf("early")) === "running");
    screen.type("aaaa\raaaa");
    await screen.shows("aaaa");
    shop.model.release("early");
    await screen.shows(QUESTION);
    expect(await shop.asked("early")).toMatchObject({ status: "pending" });
    screen.type("d");
    await screen.shows(REASON);
    screen.type("\r");
    expect(await screen.exited).toBe(0);
    expect(made("early")).toBe(false);
  });

  test("reads keys from the terminal when the prompt came through a pipe", async () => {
    const shell = `printf %s '${touch("through-pipe")}' | "$@"`;
    await using screen = shop.onScreen(["run", "through-pipe", "-"], { shell });
    await screen.shows(QUESTION);
    await press(screen, "a");
    expect(await screen.exited).toBe(0);
    expect(made("through-pipe")).toBe(true);
  });

  test("fits its lines to 80 columns, and wraps a request behind its mark", async () => {
    const command = `touch ${"long-name-".repeat(30)}✓ Bash was allowed by operator`;
    await using screen = shop.onScreen(["run", "narrow", scripted({ use: [bash(command)] })]);
    await screen.shows(QUESTION_WITHOUT_RULE);
    // Rows that were erased for later output are gone.
    const lines = screen
      .text()
      .split("\r\n")
      .map((line) => line.split(ERASE_ROW).at(-1) ?? "");
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
    const asked = lines.filter((line) => line.startsWith("│ ")).map((line) => line.slice(2));
    expect(asked.join("")).toContain(command);
    screen.type(CTRL_C);
    expect(await screen.exited).toBe(5);
  });
});

describe("Ctrl-C", () => {
  test("cancels the turn that runs, says so, and ends with 5", async () => {
    await using screen = shop.onScreen(["run", "interrupted", scripted({ hang: true })]);
    await until("the turn to run", async () => (await shop.statusOf("interrupted")) === "running");
    await until("the model to be asked", () => shop.model.requests.some(({ turn }) => "hang" in turn));
    screen.type(CTRL_C);
    expect(await screen.exited).toBe(5);
    expect(screen.text()).toContain("Cancelling the turn. Ctrl-C again leaves it.\r\n");
    expect(screen.text()).toContain("plexus: The turn was cancelled.\r\n");
    expect(await shop.statusOf("interrupted")).toBe("cancelled");
  });

  test("cancels the turn while it asks for a decision, too, and leaves the terminal as it was", async () => {
    const shell = 'before=$(stty -g); "$@"; code=$?; [ "$before" = "$(stty -g)" ] && echo restored $code';
    await using screen = shop.onScreen(["run", "asked-and-left", touch("never")], { shell });
    await screen.shows(QUESTION);
    screen.type(CTRL_C);
    await screen.shows("restored 5");
    expect(await screen.exited).toBe(0);
    expect(screen.text()).toContain("✗ Bash was abandoned");
    expect(made("never")).toBe(false);
  });

  test("pressed twice leaves the turn at once, with 5", async () => {
    await using screen = shop.onScreen(["run", "left", scripted({ use: [bash("trap '' INT TERM; sleep 20 & wait")] })]);
    await screen.shows(QUESTION_WITHOUT_RULE);
    await press(screen, "a");
    await screen.shows("was allowed by");
    screen.type(CTRL_C);
    await screen.shows("Ctrl-C again leaves it");
    screen.type(CTRL_C);
    expect(await screen.exited).toBe(5);
    expect(screen.text()).toMatch(/plexus: (Left\. The turn may go on|The turn was cancelled)/);
    await until("the turn to be over", async () => (await shop.statusOf("left")) === "cancelled");
  });

  test("is not the only way out: SIGTERM leaves the turn at once, and the terminal as it was", async () => {
    const shell = 'before=$(stty -g); "$@"; code=$?; [ "$before" = "$(stty -g)" ] && echo restored $code';
    await using screen = shop.onScreen(["run", "terminated", touch("terminated")], { shell });
    await screen.shows(QUESTION);
    for (const pid of descendants(screen.pid)) signal(pid, "SIGTERM");
    await screen.shows("restored 5");
    expect(screen.text()).toContain("plexus: Left. The turn may go on: see `plexus logs terminated -f`.\r\n");
    expect((await shop.asked("terminated")).status).toBe("pending");
    await shop.api.call(cancelTurn, { params: { key: "terminated" } });
  });

  test("of a terminal that is closed leaves the turn to others", async () => {
    await using screen = shop.onScreen(["run", "closed", touch("closed")]);
    await screen.shows(QUESTION);
    screen.close();
    await screen.exited;
    const { id } = await shop.asked("closed");
    expect(await shop.plexus(["allow", id])).toMatchObject({ exitCode: 0 });
    await until("the turn to be over", async () => (await shop.statusOf("closed")) === "complete");
    expect(made("closed")).toBe(true);
  });
});

/** The text after the last mark; empty while there is no mark. */
function after(text: string, mark: string): string {
  return text.includes(mark) ? text.slice(text.lastIndexOf(mark) + mark.length) : "";
}
