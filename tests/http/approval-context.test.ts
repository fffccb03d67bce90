import { describe, expect, test } from "bun:test";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Plexus, startPlexus } from "../support/plexus.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";
import { asker } from "../web/asking.ts";
import { expectRefusal } from "./callers.ts";

async function fileAt(plexus: Plexus, file_path: string, tool = "Write"): Promise<unknown> {
  const child = await asker(plexus, crypto.randomUUID());
  const { id } = await child.ask(tool, { file_path, content: "new" });
  const response = await plexus.fetch(`/api/v1/approvals/${id}/context`);
  expect(response.status).toBe(200);
  const { file } = (await response.json()) as { file: unknown };
  return file;
}

async function withFiles(
  body: (plexus: Plexus, at: (name: string) => string, directory: TemporaryDirectory) => Promise<void>,
) {
  await using directory = await temporaryDirectory();
  await using plexus = await startPlexus();
  await body(plexus, (name) => join(directory.path, name), directory);
}

describe("the context of an approval", () => {
  test("holds what the file that it would change holds now", () =>
    withFiles(async (plexus, at) => {
      await writeFile(at("a.txt"), "old\n");
      expect(await fileAt(plexus, at("a.txt"))).toEqual({ state: "text", path: at("a.txt"), text: "old\n" });
      expect(await fileAt(plexus, at("none.txt"))).toEqual({ state: "absent", path: at("none.txt") });
    }));

  test("says why it shows no file, and never fails or waits", () =>
    withFiles(async (plexus, at) => {
      await writeFile(at("binary"), new Uint8Array([1, 0, 2]));
      await writeFile(at("large"), "");
      await truncate(at("large"), 2 * 1024 * 1024);
      await mkdir(at("folder"));
      Bun.spawnSync(["mkfifo", at("pipe")]);
      await symlink(at("loop"), at("loop"));
      for (const name of ["binary", "large", "folder", "pipe", "loop"]) {
        expect(await fileAt(plexus, at(name))).toMatchObject({ state: "unshown", reason: expect.any(String) });
      }
      expect(await fileAt(plexus, `/${"x".repeat(5_000)}`)).toMatchObject({ state: "unshown" });
      expect(await fileAt(plexus, "/a\u0000b")).toMatchObject({ state: "unshown" });
    }));

  test("never holds a file of the data dir, by whatever way", () =>
    withFiles(async (plexus, at) => {
      const secret = join(plexus.dataDir, "plexus.db");
      await symlink(secret, at("link"));
      await symlink(plexus.dataDir, at("folder"));
      for (const path of [secret, at("link"), join(at("folder"), "plexus.db"), `${at("folder")}/../folder/plexus.db`]) {
        expect(await fileAt(plexus, path)).toMatchObject({ state: "unshown", reason: "it belongs to Plexus itself" });
      }
    }));

  test("holds no file for a tool that changes none, for a path from nowhere, or once it is decided", () =>
    withFiles(async (plexus, at) => {
      await writeFile(at("a.txt"), "old\n");
      expect(await fileAt(plexus, at("a.txt"), "Read")).toBeNull();
      expect(await fileAt(plexus, "a.txt")).toBeNull();
      const child = await asker(plexus);
      const { id } = await child.ask("Write", { file_path: at("a.txt"), content: "new" });
      await plexus.app.approvals.decide({ kind: "operator" }, id, { approve: false });
      const response = await plexus.fetch(`/api/v1/approvals/${id}/context`);
      expect(await response.json()).toEqual({ type: "ok", working_dir: null, file: null });
    }));

  test("is for those who may decide it: for others there is no such approval", () =>
    withFiles(async (plexus, at) => {
      const child = await asker(plexus);
      const { id } = await child.ask("Write", { file_path: at("a.txt"), content: "new" });
      const { token } = await plexus.app.tokens.createNamed("other");
      await expectRefusal(await plexus.fetch(`/api/v1/approvals/${id}/context`, { token }), 404, "not_found");
    }));
});
