import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readExitCode } from "../../../src/claude/process/exit-status.ts";
import { script, startScriptedModel } from "../../support/model/scripted-model.ts";
import { withPlace } from "../child.ts";
import { startPermitStub } from "../mcp-stub.ts";

setDefaultTimeout(60_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

/** Programs that the CLI or the shell around it may start by name. */
const PROGRAMS = ["mv", "git", "zsh", "bash", "sh", "rg", "ps", "which", "uname", "sed", "cat"];

test.each([
  ["strict", "an absolute path"],
  ["strict", "a relative path"],
  ["default", "an absolute path"],
] as const)(
  "no program of the project runs without asking in %s, when PATH has its bin directory as %s",
  (supervision, way) =>
    withPlace(async ({ root, workingDir }, start) => {
      const [bin, marks] = [join(workingDir, "node_modules", ".bin"), join(root, "marks")];
      for (const dir of [bin, marks]) mkdirSync(dir, { recursive: true });
      for (const name of PROGRAMS) {
        const text = `#!/bin/sh\n: >${join(marks, name)}\nPATH=/usr/bin:/bin exec ${name} "$@"\n`;
        writeFileSync(join(bin, name), text, { mode: 0o755 });
      }
      Bun.spawnSync(["git", "init", "-q", workingDir]);
      await using permit = startPermitStub("deny");
      const PATH = `${way === "a relative path" ? "node_modules/.bin" : bin}:${process.env["PATH"]}`;
      const prompt = script([
        { use: [{ name: "Bash", input: { command: "true", description: "do" } }] },
        { say: "done" },
      ]);
      const run = start({ model, supervision, loopback: permit.entry, prompt, env: { PATH } });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      expect(permit.calls).toHaveLength(1);
      expect(readdirSync(marks)).toEqual([]);
    }),
);

test("the exit code is stored by the system's own mv, even when PATH is unchanged", () =>
  withPlace(async ({ root, workingDir }, start) => {
    const claude = join(root, "program");
    writeFileSync(claude, "#!/bin/sh\nexit 7\n", { mode: 0o755 });
    writeFileSync(join(workingDir, "mv"), `#!/bin/sh\n: >${join(root, "ran")}\n`, { mode: 0o755 });
    const PATH = `${workingDir}:${process.env["PATH"]}`;
    const run = start({ model, claude, supervision: "inherit", env: { PATH } });
    await run.exited;
    expect(readExitCode(run.dir)).toBe(7);
    expect(existsSync(join(root, "ran"))).toBe(false);
  }));
