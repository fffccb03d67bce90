import type { Supervision } from "../../contract/sessions/supervision.ts";
import { projectInstructions } from "./project-instructions.ts";

type Speakers = {
  supervision: Supervision;
  workingDir: string;
  addDirs?: string[] | undefined;
  privatePaths: string[];
  /** What the session's creator says. */
  systemPrompt?: string | undefined;
};

/** What is added to the CLI's own system prompt: what the project says, and then the creator, who has the last word. */
export function addedSystemPrompt(speakers: Speakers): string | undefined {
  const { supervision, workingDir, addDirs = [], privatePaths, systemPrompt: said } = speakers;
  // There the CLI reads the project's words itself.
  const project = supervision === "inherit" ? "" : projectInstructions([workingDir, ...addDirs], privatePaths);
  return [project, said].filter(Boolean).join("\n\n") || undefined;
}
