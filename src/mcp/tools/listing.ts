import { type Tool as SdkTool, ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { ErrorResult } from "../../contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { type AnswerSchema, formsOf, isRunnable, type Tool } from "./tool.ts";

/** A tool as `tools/list` has it; only one whose answers are structured has an `outputSchema`. */
export function listed(tool: Tool): SdkTool {
  const { name, title, description, annotations } = tool;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(tool.input, { io: "input", unrepresentable: "any" });
  const structured = isRunnable(tool) && { outputSchema: outline(tool.answer) };
  return ToolSchema.parse({ name, title, description, inputSchema, ...structured, annotations });
}

/**
 * The top level of all forms of an answer, since whole schemas would take five times as many tokens. Clients check
 * refusals against it too, so `type` is all that it requires, and further fields pass.
 */
function outline(answer: AnswerSchema): JsonObject {
  const properties: Record<string, Outline> = {};
  for (const form of [...formsOf(answer), ErrorResult.pick({ type: true })]) {
    const { properties: fields = {} } = z.toJSONSchema(form, { unrepresentable: "any" });
    for (const [name, field] of Object.entries(fields)) properties[name] = either(properties[name], outlineOf(field));
  }
  return { type: "object", properties, required: ["type"] };
}

/** What a field is, without what it holds; empty where it may be null or one of several. */
type Outline = { type?: string; enum?: unknown[]; items?: Outline };

function outlineOf(field: unknown): Outline {
  if (!isJsonObject(field) || typeof field["type"] !== "string") return {};
  const { type, enum: values, const: value, items } = field;
  if (Array.isArray(values)) return { type, enum: values };
  if (value !== undefined) return { type, enum: [value] };
  if (!isJsonObject(items)) return { type };
  return { type, items: typeof items["type"] === "string" ? { type: items["type"] } : {} };
}

function either(one: Outline | undefined, other: Outline): Outline {
  if (one === undefined || JSON.stringify(one) === JSON.stringify(other)) return other;
  if (one.type === undefined || one.type !== other.type) return {};
  return one.enum && other.enum
    ? { type: one.type, enum: [...new Set([...one.enum, ...other.enum])] }
    : { type: one.type };
}
