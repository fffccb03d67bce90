import { describe, expect, test } from "bun:test";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateFiles } from "../../src/files/private-files.ts";
import { follow } from "../../src/files/real-path.ts";
import { temporaryDirectory } from "../support/temporary.ts";

async function withPrivates(
  body: (told: (question: "isPrivate" | "holdsPrivate", names: string[]) => string[]) => void,
) {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(directory.path, name);
  for (const name of ["home/vault", "home/vault.old", "home/plain", "home/dotfiles"])
    mkdirSync(at(name), { recursive: true });
  for (const name of [".claude.json", ".claude.json.1.backup", ".claude.json-notes", "vault/key", "vault.old/key"])
    writeFileSync(at(`home/${name}`), "words");
  linkSync(at("home/.claude.json"), at("home/hard"));
  symlinkSync("dotfiles/settings.json", at("home/settings.json"));
  const privates = privateFiles([at("home/.claude.json"), at("home/vault/"), at("home/settings.json")]);
  body((question, names) =>
    names.filter((name) => {
      const found = follow(at(name));
      if (!found) throw new Error(`${name} can't be followed`);
      return privates[question](found);
    }),
  );
}

describe("private files", () => {
  test("are the given paths, everything below them, hard links to them, and copies beside them", () =>
    withPrivates((told) => {
      const names = [
        "home/.claude.json",
        "home/hard",
        "home/vault",
        "home/vault/key",
        "home/vault/none",
        "home/settings.json",
        "home/dotfiles/settings.json",
        "home/.claude.json.1.backup",
        "home/.claude.json.new",
        "home/.CLAUDE.json.new",
        "home/vault.old/key",
        "home/dotfiles/settings.json.bak",
      ];
      expect(told("isPrivate", names)).toEqual(names);
      expect(told("isPrivate", ["home", "home/plain", "home/.claude.json-notes", "home/dotfiles"])).toEqual([]);
    }));

  test("are inside the directories above them, even if they do not exist yet", () =>
    withPrivates((told) => {
      expect(told("holdsPrivate", ["home", "home/dotfiles", "home/plain"])).toEqual(["home", "home/dotfiles"]);
    }));
});
