import { describe, expect, test } from "bun:test";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureOperatorToken, readOperatorToken } from "../src/operator-token.ts";
import { openStorage } from "../src/storage/sqlite/database.ts";
import { temporaryDirectory } from "./support/temporary.ts";

describe("the operator's token", () => {
  test("is created once, readable only by its owner, and then stays", async () => {
    await using directory = await temporaryDirectory();
    expect(readOperatorToken(directory.path)).toBeUndefined();
    const token = ensureOperatorToken(directory.path);
    expect(ensureOperatorToken(directory.path)).toBe(token);
    expect(statSync(join(directory.path, "operator-token")).mode & 0o777).toBe(0o600);
  });

  test("is created again when its file is empty", async () => {
    await using directory = await temporaryDirectory();
    writeFileSync(join(directory.path, "operator-token"), "");
    expect(ensureOperatorToken(directory.path)).toMatch(/^plx_operator_.{40,}$/);
  });
});

test("a data dir that other users share is refused and left unchanged", async () => {
  await using directory = await temporaryDirectory();
  writeFileSync(join(directory.path, "of-somebody-else"), "");
  chmodSync(directory.path, 0o1777);
  expect(() => openStorage(directory.path, () => {})).toThrow("shared by all users");
  expect(statSync(directory.path).mode & 0o7777).toBe(0o1777);
});
