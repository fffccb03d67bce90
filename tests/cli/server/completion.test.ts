import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { grammarOf, valuedFlags } from "../../../src/cli/completion/grammar.ts";
import { createProgram } from "../../../src/cli/program.ts";
import { plexus } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";
import { openShell, type ShellName } from "../support/shell-session.ts";

setDefaultTimeout(60_000);

const SHELLS: ShellName[] = ["bash", "zsh", "fish"];

let place: Place;
let asked: string;
beforeAll(async () => {
  place = await openPlace();
  asked = (await place.ask(await place.session("my-worker"), "Bash", { command: "touch it" })).id;
  await place.plexus(["token", "create", "laptop"]);
  mkdirSync(join(place.scratch, "directory-of-mine"));
});
afterAll(() => place[Symbol.asyncDispose]());

describe("plexus completion", () => {
  describe.each(SHELLS)("%s", (name) => {
    test.skipIf(Bun.which(name) === null)(
      "completes commands, flags, choices, files, and what the server knows",
      async () => {
        await using shell = await openShell(name, place.scratch);
        const where = `--data-dir ${place.dataDir}`;
        await shell.completes("plexus hist", "plexus history");
        await shell.completes("plexus token rev", "plexus token revoke");
        await shell.completes("plexus pending --js", "plexus pending --json");
        await shell.completes("plexus --log-le", "plexus --log-level");
        await shell.completes("plexus run x --supervision inh", "inherit");
        await shell.completes("plexus connect cur", "plexus connect cursor");
        await shell.completes("plexus history --status tim", "timed_out");
        await shell.completes("plexus serve --data-dir direct", "directory-of-mine/");
        await shell.completes(`plexus logs ${where} my-`, "my-worker");
        await shell.completes(`plexus pending ${where} --session my`, "my-worker");
        await shell.completes(`plexus allow ${where} ${asked.slice(-4, -2)}`, asked.slice(-4));
        await shell.completes(`plexus token revoke ${where} lap`, "laptop");
        await shell.completes("plexus rules test al", "allow");
        await shell.completes("plexus rules sug", "suggest");
      },
    );
  });

  test("offers nothing, without a word, where the server can't be asked", async () => {
    for (const args of [
      ["--url", "http://127.0.0.1:1"],
      ["--data-dir", "/dev/null"],
      ["--url", "nonsense"],
    ]) {
      const offered = await plexus(["completion", "--candidates", "sessions", ...args]);
      expect(offered).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    }
  });

  test("offers what a child has named without letting it touch the line", async () => {
    const session = await place.session("hostile");
    const { id } = await place.ask(session, "Ba\u001b[2Jsh\n\t", { command: "x\ny" });
    const { stdout } = await place.plexus(["completion", "--candidates", "approvals"]);
    expect(stdout.split("\n").filter((line) => line.startsWith(`${id.slice(-4)}\t`))).toEqual([
      `${id.slice(-4)}\thostile: Ba\\u{1b}[2Jsh\\n\\u{9} x\\ny`,
    ]);
  });

  test("has every command of the program, and no flag that takes a value in one and none in another", () => {
    const silent = { out() {}, err() {}, input: async () => "", isInteractive: false, showsErrors: false };
    const program = createProgram({ ...silent, hasColour: false, columns: 80 });
    const grammars = grammarOf(program);
    expect(grammars[0]?.commands.map(({ name }) => name)).toEqual(program.commands.map((command) => command.name()));
    const valued = valuedFlags(grammars);
    const plain = grammars.flatMap(({ flags }) => flags).filter(({ value }) => !value);
    expect(plain.flatMap(({ names }) => names).filter((name) => valued.includes(name))).toEqual([]);
  });

  test("refuses to guess the shell", async () => {
    const { exitCode, stderr } = await plexus(["completion"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: "plexus: SHELL must be one of bash, zsh, fish.\n" });
  });
});
