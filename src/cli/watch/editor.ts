import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editedInput } from "../../client/deciding/edited-input.ts";
import type { Config } from "../../config.ts";
import type { JsonObject } from "../../contract/values.ts";
import type { Edited as EditedInput } from "../../review/edit.ts";

type Edited =
  /** The typed text is kept, so that the person can continue with it. */
  ({ text: string } & EditedInput) | { kind: "unchanged" } | { kind: "failed"; reason: string };

/** Lets the person edit an input in their own editor, starting from this text, on our terminal. */
export async function editJson(text: string, original: JsonObject, { environment }: Config): Promise<Edited> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-edit-"));
  const file = join(directory, "input.json");
  const editor = environment["VISUAL"] || environment["EDITOR"] || "vi";
  try {
    writeFileSync(file, text, { mode: 0o600 });
    // Run by a shell as in git: the variable may contain arguments too.
    const process = Bun.spawn(["/bin/sh", "-c", `${editor} "$@"`, editor, file], {
      env: environment,
      stdio: ["inherit", "inherit", "inherit"],
    });
    const exitCode = await process.exited;
    if (exitCode !== 0) return { kind: "failed", reason: `${editor} ended with exit code ${exitCode}` };
    return checkEdited(readFileSync(file, "utf8"), text, original);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function checkEdited(text: string, before: string, original: JsonObject): Edited {
  return text.trim() === before.trim() ? { kind: "unchanged" } : { text, ...editedInput(text, original) };
}
