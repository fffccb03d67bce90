import { expect, test } from "bun:test";
import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readCurrentFile } from "../../../../src/core/approvals/context/current-file.ts";
import { follow } from "../../../../src/files/real-path.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";

test("readCurrentFile shows no private file, whether by path, symbolic link, hard link or backup", async () => {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(directory.path, name);
  await mkdir(at("vault"));
  for (const name of ["settings.json", "settings.json.1.backup", "vault/key", "plain"])
    await writeFile(at(name), "words");
  await symlink(at("settings.json"), at("symbolic"));
  await link(at("settings.json"), at("hard"));
  const privatePaths = [at("settings.json"), at("vault"), at("none")];
  const now = (name: string) => readCurrentFile(at(name), follow(at(name)), privatePaths);
  for (const name of ["settings.json", "symbolic", "hard", "vault/key", "settings.json.1.backup"]) {
    expect({ name, ...now(name) }).toMatchObject({ name, state: "unshown" });
  }
  expect(now("vault/none")).toEqual({ state: "absent", path: at("vault/none") });
  expect(now("plain")).toMatchObject({ state: "text", text: "words" });
});

test("readCurrentFile follows no link whose target depends on the process", async () => {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(directory.path, name);
  await symlink("/proc/self/cwd", at("docs"));
  await symlink("/proc/self", at("self"));
  for (const path of [at("docs/package.json"), at("self/pagemap"), "/proc/self/pagemap"]) {
    expect(readCurrentFile(path, follow(path), [])).toEqual({
      state: "unshown",
      path,
      reason: "it leads through a link that can't be followed, or into /proc, /dev or /sys",
    });
  }
});
