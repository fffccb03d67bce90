import type { Supervision } from "../../contract/sessions/supervision.ts";
import { projectInstructions } from "./project-instructions.ts";

type PromptSources = {
  supervision: Supervision;
  workingDir: string;
  addDirs?: string[] | undefined;
  privatePaths: string[];
  /** The text of the session's creator. */
  systemPrompt?: string | undefined;
};

/** The addition to the CLI's own system prompt: the project's instructions, then the creator's, which come last. */
export function addedSystemPrompt(sources: PromptSources): string | undefined {
  const { supervision, workingDir, addDirs = [], privatePaths, systemPrompt } = sources;
  // With `inherit` the CLI reads the project's instructions itself.
  const project = supervision === "inherit" ? "" : projectInstructions([workingDir, ...addDirs], privatePaths);
  return [project, systemPrompt].filter(Boolean).join("\n\n") || undefined;
}
