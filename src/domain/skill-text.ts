import { join } from "node:path";
import type { SkillText } from "../schema/approval-context.ts";
import { cutText } from "../schema/cut.ts";
import { fileNow } from "./file-now.ts";
import { realPathOf } from "./real-path.ts";

const MAX_CHARS = 100_000;

/** The directories in which a skill may lie, the one that counts first; `name` must not lead out of them. */
export async function skillText(
  name: unknown,
  directories: string[],
  privatePaths: string[],
): Promise<SkillText | null> {
  if (typeof name !== "string" || /[/\\\0]/.test(name) || ["", ".", ".."].includes(name)) return null;
  for (const directory of directories) {
    const path = await realPathOf(join(directory, name, "SKILL.md"));
    const file = path === null ? undefined : await fileNow(path, privatePaths);
    if (file?.state === "text") return { path: file.path, text: cutText(file.text, MAX_CHARS) };
    // One that is there but can't be shown is still the one that would be loaded.
    if (file?.state !== "absent") return null;
  }
  return null;
}
