import { join } from "node:path";
import type { SkillText } from "../../../contract/approvals/approval-context.ts";
import { cutText } from "../../../contract/text/cut-text.ts";
import { follow } from "../../../files/real-path.ts";
import { readCurrentFile } from "./current-file.ts";

const MAX_CHARS = 100_000;

/** The text of a skill from the first of `directories` that has it. `name` must not lead out of them. */
export function skillText(name: unknown, directories: string[], privatePaths: string[]): SkillText | null {
  if (typeof name !== "string" || /[/\\\0]/.test(name) || ["", ".", ".."].includes(name)) return null;
  for (const directory of directories) {
    const found = follow(join(directory, name, "SKILL.md"));
    const file = found && readCurrentFile(found.real, found, privatePaths);
    if (file?.state === "text") return { path: file.path, text: cutText(file.text, MAX_CHARS) };
    // A skill that exists but can't be shown is still the one that would be loaded.
    if (file?.state !== "absent") return null;
  }
  return null;
}
