import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { Decision } from "../../contract/approvals/approval.ts";
import { problemsIn } from "../../contract/errors.ts";
import { JsonObject } from "../../contract/values.ts";

type Edited =
  | { kind: "input"; text: string; input: JsonObject }
  | { kind: "unchanged" }
  /** What was typed is kept, so that it can be gone on with. */
  | { kind: "invalid"; text: string; reason: string }
  | { kind: "failed"; reason: string };

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
    return judge(readFileSync(file, "utf8"), text);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function judge(text: string, before: string): Edited {
  if (text.trim() === before.trim()) return { kind: "unchanged" };
  const invalid = (reason: string): Edited => ({ kind: "invalid", text, reason });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return invalid(`it is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  const input = JsonObject.safeParse(value);
  if (!input.success) return invalid(`it ${problemsIn(input.error)}`);
  const decision = Decision.safeParse({ approve: true, updated_input: input.data });
  return decision.success ? { kind: "input", text, input: input.data } : invalid(problemsIn(decision.error));
}
