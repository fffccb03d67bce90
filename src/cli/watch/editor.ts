import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EditedInput, editedInput } from "../../client/edited-input.ts";
import type { Config } from "../../config.ts";

type Edited =
  /** What was typed is kept, so that it can be gone on with. */
  ({ text: string } & EditedInput) | { kind: "unchanged" } | { kind: "failed"; reason: string };

/** Lets the person edit a JSON object in the editor of their choice, on the terminal that is ours otherwise. */
export async function editJson(text: string, { environment }: Config): Promise<Edited> {
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
    return checkEdited(readFileSync(file, "utf8"), text);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function checkEdited(text: string, before: string): Edited {
  return text.trim() === before.trim() ? { kind: "unchanged" } : { text, ...editedInput(text) };
}
