import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editedInput } from "../../client/deciding/edited-input.ts";
import type { Config } from "../../config.ts";
import type { JsonObject } from "../../contract/values.ts";
import type { Edited as EditedInput } from "../../review/edit.ts";

type Edited =
  /** What was typed is kept, so that it can be gone on with. */
  ({ text: string } & EditedInput) | { kind: "unchanged" } | { kind: "failed"; reason: string };

/** Lets the person edit an input in the editor of their choice, from this text on, on the terminal that is ours otherwise. */
export async function editJson(text: string, original: JsonObject, { environment }: Config): Promise<Edited> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-edit-"));
  const file = join(directory, "input.json");
  const editor = environment["VISUAL"] || environment["EDITOR"] || "vi";
  try {
    writeFileSync(file, text, { mode: 0o600 });
    // As git does it: the variable may hold arguments too.
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
