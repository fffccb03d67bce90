import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Whether the CLI has saved the conversation, so that it can be resumed. The CLI does so shortly after its start. */
export function isSaved(claudeSessionId: string, env: Record<string, string | undefined>): boolean {
  const projects = join(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] ?? "", ".claude"), "projects");
  try {
    return readdirSync(projects).some((project) => existsSync(join(projects, project, `${claudeSessionId}.jsonl`)));
  } catch {
    return false;
  }
}
