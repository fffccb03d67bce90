import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import type { JsonSchemaType } from "@modelcontextprotocol/sdk/validation/types.js";
import { ErrorResult } from "../../../src/contract/refusals/errors.ts";
import { SessionDetail } from "../../../src/contract/sessions/session-view.ts";
import { type CutEvent, TurnEvent } from "../../../src/contract/sessions/turn.ts";
import type { CutObject } from "../../../src/contract/text/cut-object.ts";
import { listed } from "../../../src/mcp/tools/declaration/listing.ts";
import { canonicalName } from "../../../src/mcp/tools/declaration/names.ts";
import { PARENT_TOOLS } from "../../../src/mcp/tools/tools.ts";

type DeclaredTool = (typeof PARENT_TOOLS)[number];
export type ToolName = DeclaredTool["name"];
export type SessionTool = Extract<ToolName, `claudecode_${string}`>;
type AnyAnswer<T extends ToolName> = Awaited<ReturnType<Extract<DeclaredTool, { name: T }>["run"]>>;
/** The answer of a poll in its form with events. A test that wants a summary parses it itself. */
type Answer<T extends ToolName> = T extends "claudecode_poll"
  ? Extract<AnyAnswer<T>, { events: unknown }>
  : AnyAnswer<T>;

/** The same without the forms for values that are cut. */
type Uncut<T> = T extends CutEvent | CutObject ? never : T extends object ? { [K in keyof T]: Uncut<T[K]> } : T;
export type ToolAnswerOf<T extends ToolName> = Uncut<Answer<T>>;

export const SESSION_TOOLS = PARENT_TOOLS.map(({ name }) => name).filter(isSessionTool);

export function declared(name: ToolName): DeclaredTool {
  const tool = PARENT_TOOLS.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool is declared as ${name}`);
  return tool;
}

/** Fails unless the value matches this tool's declared answer, key by key, and nothing was cut. */
export function answerOf<T extends ToolName>(name: T, value: unknown): ToolAnswerOf<T> {
  const answer = declared(name).answer.parse(value);
  if ("events" in answer) for (const { event } of answer["events"] as { event: unknown }[]) TurnEvent.parse(event);
  if ("config" in answer) SessionDetail.parse(answer["config"]);
  return answer as ToolAnswerOf<T>;
}

type Received = { structuredContent?: unknown; isError?: unknown };

const validator = new AjvJsonSchemaValidator();
const listedSchemas = new Map<string, ReturnType<typeof validator.getValidator>>();

/**
 * Fails unless a result matches the tool's listing and its declaration. The clients of the tests call this for every
 * result. A result without structured content comes from the permit.
 */
export function checkResult(name: string, { structuredContent, isError }: Received): void {
  if (structuredContent === undefined) return;
  const tool = PARENT_TOOLS.find((candidate) => candidate.name === canonicalName(name));
  if (tool) {
    const matches = listedSchemas.get(tool.name) ?? validator.getValidator(listed(tool).outputSchema as JsonSchemaType);
    listedSchemas.set(tool.name, matches);
    const { valid, errorMessage } = matches(structuredContent);
    if (!valid) throw new Error(`${name} answered what its outputSchema has not: ${errorMessage}`);
  }
  if (isError) ErrorResult.parse(structuredContent);
  else if (tool) tool.answer.parse(structuredContent);
  else throw new Error(`${name} is no tool of a parent's, and has answered`);
}

function isSessionTool(name: ToolName): name is SessionTool {
  return name.startsWith("claudecode_");
}
