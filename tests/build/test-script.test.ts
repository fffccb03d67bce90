import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { groupsOf } from "../../scripts/testing/test-groups.ts";
import { readReports } from "../../scripts/testing/test-report.ts";
import { ALONE, APART } from "../alone.ts";
import { isRunning } from "../support/processes/processes.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

const ROOT = join(import.meta.dir, "../..");
const SCRIPT = join(ROOT, "scripts/test.ts");
const HEAD = 'import { expect, test } from "bun:test";\n';
const PASSING = 'test("a", () => {});';
const FAILING = 'test("b", () => expect(1).toBe(2));';
const [ALONE_FILE = ""] = Object.keys(ALONE);

describe("npm test", () => {
  test("ends with the totals of all files alone on a line", async () => {
    const outcome = await run({ "tests/a.test.ts": PASSING, "tests/deep/b.test.ts": PASSING });
    expect(outcome).toMatchObject({ exitCode: 0, last: "2 passed, 0 failed" });
  });

  test("counts skipped tests", async () => {
    const outcome = await run({ "tests/a.test.ts": `${PASSING} test.skip("b", () => {});` });
    expect(outcome).toMatchObject({ exitCode: 0, last: "1 passed, 0 failed, 1 skipped" });
  });

  test("fails when a test fails, and names it once more before the totals", async () => {
    const failing = `describe("<it>", () => { ${FAILING} });`.replace(/^/, 'import { describe } from "bun:test";\n');
    const outcome = await run({ "tests/a.test.ts": failing, "tests/b.test.ts": PASSING });
    expect(outcome).toMatchObject({ exitCode: 1, last: "1 passed, 1 failed" });
    expect(outcome.lines.at(-3)).toBe("FAILED tests/a.test.ts: <it> > b");
  });

  test("fails when a test ends the process with exit code 0, names its file, and still runs the others", async () => {
    const exiting = `${PASSING} test("b", () => process.exit(0));`;
    const outcome = await run({ "tests/a.test.ts": exiting, "tests/b.test.ts": PASSING });
    expect(outcome).toMatchObject({ exitCode: 1, last: "1 passed, 1 failed" });
    expect(outcome.lines.at(-3)).toStartWith("FAILED tests/a.test.ts: bun test ended (0)");
  });

  test("names the files that end their process only if they run together", async () => {
    const meets = 'globalThis.other ? process.exit(0) : (globalThis.other = true); test("a", () => {});';
    const outcome = await run({ "tests/a.test.ts": meets, "tests/b.test.ts": meets, "tests/deep/c.test.ts": PASSING });
    expect(outcome).toMatchObject({ exitCode: 1, last: "3 passed, 1 failed" });
    expect(outcome.lines.at(-3)).toStartWith("FAILED tests/a.test.ts, tests/b.test.ts: bun test ended (0)");
  });

  test("names the file of each failure among those of one process", async () => {
    const files = { "tests/a.test.ts": FAILING, "tests/b.test.ts": PASSING, "tests/c.test.ts": FAILING };
    const { lines, last } = await run(files);
    expect(lines.slice(-4, -2)).toEqual(["FAILED tests/a.test.ts: b", "FAILED tests/c.test.ts: b"]);
    expect(last).toBe("1 passed, 2 failed");
  });

  test("runs the files of a folder in one process, but those that can't share one", async () => {
    const [apart = ""] = Object.keys(APART);
    const telling = 'test("a", () => console.log("process " + process.pid));';
    const beside = [1, 2].map((number) => [join(dirname(apart), `beside-${number}.test.ts`), telling]);
    const { lines } = await run(Object.fromEntries([[apart, telling], ...beside]), "--jobs=1");
    const processes = lines.filter((line) => line.startsWith("process "));
    expect(processes).toHaveLength(3);
    expect(new Set(processes).size).toBe(2);
  });

  test("fails when a file can't be loaded, even if all other tests pass", async () => {
    const outcome = await run({ "tests/a.test.ts": PASSING, "tests/b.test.ts": 'throw new Error("at load");' });
    expect(outcome).toMatchObject({ exitCode: 1, last: "1 passed, 1 failed" });
  });

  test("counts a file that can't be loaded beside a test that fails", async () => {
    const outcome = await run({ "tests/a.test.ts": FAILING, "tests/b.test.ts": 'throw new Error("at load");' });
    expect(outcome).toMatchObject({ exitCode: 1, last: "0 passed, 2 failed" });
  });

  test("fails when there is nothing to run", async () => {
    expect(await run({ "tests/a.test.ts": "" })).toMatchObject({ exitCode: 1, last: "0 passed, 1 failed" });
    expect(await run({})).toMatchObject({ exitCode: 1, last: "0 passed, 1 failed" });
    const filtered = await run({ "tests/a.test.ts": PASSING }, "-t", "no such title");
    expect(filtered).toMatchObject({ exitCode: 1, last: "0 passed, 1 failed" });
  });

  test("runs only the tests of a path or with a title", async () => {
    const files = { "tests/a.test.ts": `${PASSING} ${FAILING}`, "tests/b.test.ts": FAILING };
    const expected = { exitCode: 0, last: "1 passed, 0 failed, 1 skipped" };
    expect(await run(files, "tests/a", "-t", "a")).toMatchObject(expected);
    expect(await run(files, "-t", "a")).toMatchObject(expected);
    expect(await run(files, "./tests/b.test.ts")).toMatchObject({ exitCode: 1, last: "0 passed, 1 failed" });
  });

  test("prints the output of each file's tests in one piece", async () => {
    const chatty = (name: string) =>
      `for (let turn = 0; turn < 20; turn++) {
         test("turn " + turn, async () => { console.log("${name}"); console.error("${name}"); await Bun.sleep(1); });
       }`;
    const files = { "tests/here/a.test.ts": chatty("one"), "tests/there/b.test.ts": chatty("other") };
    const { lines } = await run(files, "--jobs=2");
    const said = lines.filter((line) => /^(one|other)$/.test(line));
    expect(said).toHaveLength(80);
    expect(said.filter((line, index) => line !== said[index - 1])).toHaveLength(2);
  });

  test("starts with the file that takes longest", async () => {
    const files = { "tests/a/a.test.ts": PASSING, "tests/b/b.test.ts": PASSING, "tests/c/c.test.ts": PASSING };
    const seconds = { "tests/c/c.test.ts": 9, "tests/b/b.test.ts": 7, "tests/gone.test.ts": 8 };
    const { lines } = await run({ ...files, "tests/durations.json": JSON.stringify(seconds) }, "--jobs=1");
    const order = lines.filter((line) => line.startsWith("tests/"));
    expect(order).toEqual(["tests/c/c.test.ts:", "tests/b/b.test.ts:", "tests/a/a.test.ts:"]);
  });

  test("runs folders in parallel, and files that must run alone after the others", async () => {
    const meets = (own: string, other: string) =>
      `import { existsSync, writeFileSync } from "node:fs";
       test("meets", async () => {
         writeFileSync("${own}", "");
         while (!existsSync("${other}")) await Bun.sleep(5);
         writeFileSync("${own}.done", "");
       });`;
    const last = `import { existsSync } from "node:fs";
       test("is last", () => expect([existsSync("a.done"), existsSync("b.done")]).toEqual([true, true]));`;
    const files = { "tests/a/a.test.ts": meets("a", "b"), "tests/b/b.test.ts": meets("b", "a"), [ALONE_FILE]: last };
    const outcome = await run(files, "--jobs", "2");
    expect(outcome).toMatchObject({ exitCode: 0, last: "3 passed, 0 failed" });
  });

  test("stops every test when it is stopped, and fails", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string) => join(directory.path, name);
    const endless = `test("a", async () => { await Bun.write("${at("pid")}", String(process.pid)); await Bun.sleep(1e6); });`;
    await write(directory.path, { "tests/a.test.ts": endless, [ALONE_FILE]: PASSING });
    const script = Bun.spawn([process.execPath, SCRIPT], { cwd: directory.path, stdout: "pipe", stderr: "ignore" });
    const worker = Number(
      await until("the test to run", () =>
        Bun.file(at("pid"))
          .text()
          .catch(() => undefined),
      ),
    );
    script.kill("SIGTERM");
    expect(await script.exited).toBe(1);
    expect((await script.stdout.text()).trimEnd()).toEndWith("\n0 passed, 2 failed");
    await until("the worker to end", () => !isRunning(worker));
  });

  test("lists only existing files as those that run alone or apart", () => {
    expect(Object.keys({ ...ALONE, ...APART }).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe("the files of one process", () => {
  const groups = (files: string[], seconds: Record<string, number> = {}) =>
    groupsOf(files, seconds, (file) => file.includes("apart")).map((group) => group.files);

  test("are in one folder of tests, and take a minute at most", () => {
    expect(groups(["tests/a/x", "tests/a/deep/y", "tests/b/z"])).toEqual([
      ["tests/a/x", "tests/a/deep/y"],
      ["tests/b/z"],
    ]);
    const seconds = { "tests/a/x": 40, "tests/a/y": 21, "tests/a/long": 61 };
    const expected = [["tests/a/long"], ["tests/a/x", "tests/a/z"], ["tests/a/y"]];
    expect(groups(["tests/a/long", "tests/a/x", "tests/a/y", "tests/a/z"], seconds)).toEqual(expected);
  });

  test("are alone if they have to be, and each file is in one process", () => {
    const files = Array.from({ length: 100 }, (_, index) => `tests/${index % 3}/${index % 7 ? "" : "apart"}${index}`);
    const found = groups(files);
    expect(found.flat().toSorted()).toEqual(files.toSorted());
    expect(found.filter((group) => group.length > 1 && group.some((file) => file.includes("apart")))).toEqual([]);
  });
});

describe("the report of bun test", () => {
  const SUITE =
    '  <testsuite name="a" file="a" tests="3" assertions="0" failures="0" skipped="1" time="0.5" hostname="x">\n';
  const whole = (...suites: string[]) =>
    `<testsuites name="bun test" tests="9">\n${suites.map((suite) => `${suite}  </testsuite>\n`).join("")}</testsuites>\n`;
  const green = { file: "a", seconds: 0.5, passed: 2, skipped: 1, failures: [] };

  test("gives results only if it is complete and the exit code agrees", () => {
    expect(readReports(["a"], whole(SUITE), 0)).toEqual([green]);
    expect(readReports(["a"], whole(SUITE), 1)).toBeUndefined();
    for (const broken of ["", SUITE, `<testsuites name="bun test">\n${SUITE}`, whole(SUITE.replace("tests", "t"))])
      expect(readReports(["a"], broken, 0)).toBeUndefined();
  });

  test("gives no results if it lacks a file, even if another has failed", () => {
    const failed = SUITE.replaceAll('"a"', '"b"').replace('failures="0"', 'failures="1"');
    expect(readReports(["a"], whole(failed), 1)).toBeUndefined();
    expect(readReports(["a", "b"], whole(failed), 1)).toBeUndefined();
    expect(readReports(["a", "b"], whole(failed, SUITE), 1)).toMatchObject([green, { file: "b", passed: 1 }]);
  });

  test("counts failures without a name", () => {
    const failed = SUITE.replace('failures="0"', 'failures="1"');
    const failures = ["a: a test without a name, see above"];
    expect(readReports(["a"], whole(failed), 1)).toMatchObject([{ passed: 1, failures }]);
  });
});

async function run(files: Record<string, string>, ...args: string[]) {
  await using directory = await temporaryDirectory();
  await write(directory.path, files);
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, SCRIPT, ...args], { cwd: directory.path });
  const lines = stdout.toString().trimEnd().split("\n");
  return { exitCode, lines, last: lines.at(-1) };
}

async function write(directory: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), name.endsWith(".ts") ? HEAD + text : text);
  }
}
