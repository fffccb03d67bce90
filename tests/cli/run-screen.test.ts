import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { descendants, signal } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { bash, openWorkshop, scripted, type Workshop } from "./workshop.ts";

setDefaultTimeout(120_000);

const CTRL_C = "\u0003";
const ERASE_ROW = "\r\u001b[K";
const QUESTION = "Allow it? [a]llow  [d]eny  [s]kip ";
const WHY = "Why not?";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop[Symbol.asyncDispose]());

const touch = (file: string) => scripted({ use: [bash(`touch ${file}`)] });
const made = (file: string) => existsSync(join(shop.work, file));

describe("plexus run on a terminal", () => {
  test("shows what is asked, and the key a lets the child go on", async () => {
    await using screen = shop.onScreen(["run", "allowed", touch("by-key")]);
    const shown = await screen.shows(QUESTION);
    expect(shown).toContain("│ command: touch by-key\r\n");
    expect(made("by-key")).toBe(false);
    screen.type("a");
    expect(await screen.exited).toBe(0);
    expect(made("by-key")).toBe(true);
    expect(after(screen.text(), QUESTION)).toStartWith(`${ERASE_ROW}✓ Bash was allowed by operator\r\n`);
  });

  test("takes a reason with the key d, edited as it is typed, which the child reads", async () => {
    await using screen = shop.onScreen(["run", "denied", touch("denied")]);
    await screen.shows(QUESTION);
    screen.type("d");
    await screen.shows(WHY);
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
    await screen.shows(WHY);
    screen.type("\u001b");
    await until("the question again", () => after(screen.text(), WHY).includes(QUESTION));
    screen.type("s");
    const { id } = await shop.asked("skipped");
    await screen.shows(`\`plexus allow ${id}\``);
    await shop.plexus(["allow", id]);
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
    // The next one is asked about anew.
    await until("the next question", () => after(screen.text(), "touch r2").includes(QUESTION));
    screen.type("a");
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
    await screen.shows(WHY);
    screen.type("\r");
    expect(await screen.exited).toBe(0);
    expect(made("early")).toBe(false);
  });

  test("reads keys from the terminal when the prompt came through a pipe", async () => {
    const shell = `printf %s '${touch("through-pipe")}' | "$@"`;
    await using screen = shop.onScreen(["run", "through-pipe", "-"], { shell });
    await screen.shows(QUESTION);
    screen.type("a");
    expect(await screen.exited).toBe(0);
    expect(made("through-pipe")).toBe(true);
  });

  test("fits its lines to 80 columns, and wraps what is asked behind its mark", async () => {
    const command = `touch ${"long-name-".repeat(30)}✓ Bash was allowed by operator`;
    await using screen = shop.onScreen(["run", "narrow", scripted({ use: [bash(command)] })]);
    await screen.shows(QUESTION);
    // A row that was erased for what came later is not there any more.
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

  test("cancels while it asks, too, and leaves the terminal as it was", async () => {
    const shell = 'before=$(stty -g); "$@"; code=$?; [ "$before" = "$(stty -g)" ] && echo restored $code';
    await using screen = shop.onScreen(["run", "asked-and-left", touch("never")], { shell });
    await screen.shows(QUESTION);
    screen.type(CTRL_C);
    await screen.shows("restored 5");
    expect(await screen.exited).toBe(0);
    expect(screen.text()).toContain("✗ Bash was given up");
    expect(made("never")).toBe(false);
  });

  test("pressed twice leaves the turn at once, with 5", async () => {
    await using screen = shop.onScreen(["run", "left", scripted({ use: [bash("trap '' INT TERM; sleep 20 & wait")] })]);
    await screen.shows(QUESTION);
    screen.type("a");
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
    await shop.fetch("/api/v1/sessions/terminated/cancel", { method: "POST" });
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

/** What stands behind the last mark; nothing as long as there is none. */
function after(text: string, mark: string): string {
  return text.includes(mark) ? text.slice(text.lastIndexOf(mark) + mark.length) : "";
}
