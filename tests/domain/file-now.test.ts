import { expect, test } from "bun:test";
import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileNow } from "../../src/domain/file-now.ts";
import { temporaryDirectory } from "../support/temporary.ts";

test("fileNow shows no private file, by its path, a link, or another name of the same file", async () => {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(directory.path, name);
  await mkdir(at("vault"));
  for (const name of ["settings.json", "vault/key", "plain"]) await writeFile(at(name), "words");
  await symlink(at("settings.json"), at("symbolic"));
  await link(at("settings.json"), at("hard"));
  const privatePaths = [at("settings.json"), at("vault"), at("none")];
  for (const name of ["settings.json", "symbolic", "hard", "vault/key"]) {
    expect({ name, ...(await fileNow(at(name), privatePaths)) }).toMatchObject({ name, state: "unshown" });
  }
  expect(await fileNow(at("plain"), privatePaths)).toMatchObject({ state: "text", text: "words" });
});
