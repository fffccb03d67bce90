import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace } from "../../src/domain/workspace.ts";
import { temporaryDirectory } from "../support/temporary.ts";

describe("a working directory", () => {
  test("is where the server was started, unless another was asked for", async () => {
    await using directory = await temporaryDirectory();
    mkdirSync(join(directory.path, "project"));
    const workspace = createWorkspace({ roots: [], startedIn: directory.path });
    expect(workspace.workingDir(undefined)).toBe(directory.path);
    expect(workspace.workingDir(join(directory.path, "project"))).toBe(join(directory.path, "project"));
  });

  test("must lie in a root, which is also the usual one, and no link leads out", async () => {
    await using directory = await temporaryDirectory();
    const [root, outside] = [join(directory.path, "root"), join(directory.path, "root-but-not-it")];
    mkdirSync(join(root, "project"), { recursive: true });
    mkdirSync(outside);
    symlinkSync(outside, join(root, "link"));
    const workspace = createWorkspace({ roots: [root], startedIn: outside });
    expect(workspace.workingDir(undefined)).toBe(root);
    expect(workspace.workingDir(join(root, "project"))).toBe(join(root, "project"));
    for (const path of [outside, join(root, ".."), join(root, "link"), "/"]) {
      expect(() => workspace.workingDir(path)).toThrow("outside of the workspace");
    }
  });

  test("is refused with what to do where it is absent or a file", async () => {
    await using directory = await temporaryDirectory();
    writeFileSync(join(directory.path, "file"), "");
    const workspace = createWorkspace({ roots: [], startedIn: directory.path });
    expect(() => workspace.workingDir(join(directory.path, "none"))).toThrow("does not exist");
    expect(() => workspace.workingDir(join(directory.path, "file"))).toThrow("is a file");
  });
});
