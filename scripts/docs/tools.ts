import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../src/contract/values.ts";
import { type Tool, UNTRUSTED } from "../../src/mcp/tools/declaration/tool.ts";
import { TOOLS } from "../../src/mcp/tools/tools.ts";
import { inOneLine, json, table } from "./markdown.ts";

const MANY_CHARS = 1_000;
const Schema = z.object({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()).default([]) });

/** The generated texts about tools: one line each in the README, one section each in docs/mcp.md. */
export const TOOL_PARTS: Record<string, () => string> = {
  tools: () => summary(TOOLS.operator),
  ...Object.fromEntries(TOOLS.operator.map((tool) => [tool.name, () => section(tool)])),
};

function summary(tools: readonly Tool[]): string {
  const rows = tools.map(({ name, title }) => [`\`${name}\``, userOf(name), title[0]?.toLowerCase() + title.slice(1)]);
  return table(["tool", "for", "to"], rows);
}

function userOf(name: string): string {
  const isOf = (tools: readonly Tool[]) => tools.some((tool) => tool.name === name);
  return isOf(TOOLS.token) ? "parents" : isOf(TOOLS.session) ? "children, and the operator" : "the operator";
}

function section(tool: Tool): string {
  const description = tool.description.replace(UNTRUSTED, "").trim();
  return [`### \`${tool.name}\``, description, argumentsOf(tool), ...tool.examples.map(shown)].join("\n\n");
}

function argumentsOf({ input }: Tool): string {
  const { properties, required } = Schema.parse(z.toJSONSchema(input, { io: "input", unrepresentable: "any" }));
  const rows = Object.entries(properties).map(([name, schema]) => [
    `\`${name}\``,
    typeOf(schema),
    required.includes(name) ? "required" : "optional",
    (isJsonObject(schema) && String(schema["description"] ?? "")) || "as for `claudecode_create`",
  ]);
  return rows.length === 0 ? "It takes no arguments." : table(["argument", "type", "", "meaning"], rows);
}

function shown({ input, answer, when }: Tool["examples"][number]): string {
  const called =
    isJsonObject(input) && Object.keys(input).length > 0 ? `With \`${inOneLine(input)}\`` : "Without arguments";
  return `${called}${when === undefined ? "" : `, ${when}`}:\n\n\`\`\`json\n${json(answer)}\n\`\`\``;
}

/**
 * Describes an argument's type, with bounds that a caller could reach. The page itself says that `null` means absent.
 */
function typeOf(schema: unknown): string {
  if (!isJsonObject(schema)) return "anything";
  const { anyOf, enum: values, items } = schema;
  if (Array.isArray(anyOf)) return typeOf(anyOf.find((one) => isJsonObject(one) && one["type"] !== "null"));
  if (Array.isArray(values)) return values.map((value) => `\`${value}\``).join(", ");
  const type = plainType(schema);
  if (type === "array") return `list of ${plainType(items)}s${within(schema, undefined, "maxItems")}`;
  if (type === "string") return isLong(schema) ? `${type}${within(schema, undefined, "maxLength")} characters` : type;
  return `${type}${within(schema, "minimum", "maximum")}`;
}

function plainType(schema: unknown): string {
  const type = isJsonObject(schema) ? schema["type"] : undefined;
  return String(Array.isArray(type) ? type.find((one) => one !== "null") : type);
}

function isLong({ maxLength }: JsonObject): boolean {
  return typeof maxLength === "number" && maxLength > MANY_CHARS;
}

function within(schema: JsonObject, from: string | undefined, to: string): string {
  const least = from === undefined ? undefined : schema[from];
  const most = schema[to];
  if (typeof most !== "number" || most >= Number.MAX_SAFE_INTEGER) return "";
  return `, ${typeof least === "number" ? `${least} to ` : "at most "}${most.toLocaleString("en")}`;
}
