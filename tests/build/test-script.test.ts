import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../support/temporary.ts";

const SCRIPT = join(import.meta.dir, "../../scripts/test.ts");
const head = 'import { expect, test } from "bun:test";\n';

describe("npm test", () => {
  test("ends with the totals alone on a line", async () => {
    expect(await run('test("a", () => {}); test("b", () => {});')).toEqual({ exitCode: 0, last: "2 passed, 0 failed" });
  });

  test("counts skipped tests", async () => {
    const outcome = await run('test("a", () => {}); test.skip("b", () => {});');
    expect(outcome).toEqual({ exitCode: 0, last: "1 passed, 0 failed, 1 skipped" });
  });

  test("fails when a test fails", async () => {
    const outcome = await run('test("a", () => {}); test("b", () => expect(1).toBe(2));');
    expect(outcome).toEqual({ exitCode: 1, last: "1 passed, 1 failed" });
  });

  test("fails when a test ends the process with exit code 0", async () => {
    const outcome = await run('test("a", () => {}); test("b", () => process.exit(0));');
    expect(outcome).toEqual({ exitCode: 1, last: "0 passed, 1 failed" });
  });

  test("fails when a file can't be loaded, even if all other tests pass", async () => {
    const outcome = await run('test("a", () => {});', { "broken.test.ts": 'throw new Error("at load");' });
    expect(outcome).toEqual({ exitCode: 1, last: "1 passed, 1 failed" });
  });

  test("fails when there is nothing to run", async () => {
    expect(await run("")).toEqual({ exitCode: 1, last: "0 passed, 1 failed" });
  });

  test("passes its arguments on", async () => {
    const outcome = await run('test("a", () => {}); test("b", () => expect(1).toBe(2));', {}, "-t", "a");
    expect(outcome).toEqual({ exitCode: 0, last: "1 passed, 0 failed, 1 skipped" });
  });
});

async function run(body: string, others: Record<string, string> = {}, ...args: string[]) {
  await using directory = await temporaryDirectory();
  for (const [name, text] of Object.entries({ "own.test.ts": head + body, ...others })) {
    await writeFile(join(directory.path, name), text);
  }
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, SCRIPT, ...args], { cwd: directory.path });
  return { exitCode, last: stdout.toString().trimEnd().split("\n").at(-1) };
}
