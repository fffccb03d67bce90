import type { CutObject } from "../../../src/contract/cut.ts";
import { SessionDetail } from "../../../src/contract/sessions/session-view.ts";
import { type CutEvent, TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { PARENT_TOOLS } from "../../../src/mcp/tools/tools.ts";

type DeclaredTool = (typeof PARENT_TOOLS)[number];
export type ToolName = DeclaredTool["name"];
export type SessionTool = Extract<ToolName, `claudecode_${string}`>;
type Answer<T extends ToolName> = Awaited<ReturnType<Extract<DeclaredTool, { name: T }>["run"]>>;

/** The same without the forms of what is too long to be told whole. */
type Uncut<T> = T extends CutEvent | CutObject ? never : T extends object ? { [K in keyof T]: Uncut<T[K]> } : T;
export type ToolAnswerOf<T extends ToolName> = Uncut<Answer<T>>;

export const SESSION_TOOLS = PARENT_TOOLS.map(({ name }) => name).filter(isSessionTool);

export function declared(name: ToolName): DeclaredTool {
  const tool = PARENT_TOOLS.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool is declared as ${name}`);
  return tool;
}

/** Fails unless the value is what this tool's declaration says that it answers, key by key, and nothing was cut. */
export function answerOf<T extends ToolName>(name: T, value: unknown): ToolAnswerOf<T> {
  const answer = declared(name).answer.parse(value);
  if ("events" in answer) for (const { event } of answer["events"] as { event: unknown }[]) TurnEvent.parse(event);
  if ("config" in answer) SessionDetail.parse(answer["config"]);
  return answer as ToolAnswerOf<T>;
}

function isSessionTool(name: ToolName): name is SessionTool {
  return name.startsWith("claudecode_");
}
