import { isJsonObject, type JsonObject } from "../../contract/values.ts";

/** Readers for values of any shape: a value of the wrong type counts as absent. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const numberOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
export const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The content of a message as blocks; the CLI also writes it as plain text. */
export function blocksOf(content: unknown): JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return listOf(content).filter(isJsonObject);
}

/** The output of a tool as text; parts without text, such as images, are described in brackets. */
export function outputOf(content: unknown): string {
  if (typeof content === "string") return content;
  return blocksOf(content).map(partOf).join("\n");
}

function partOf(block: JsonObject): string {
  if (typeof block["text"] === "string") return block["text"];
  const kind = textOf(block["type"]) || "something without a type";
  const { media_type, data } = objectOf(block["source"]);
  const details = [textOf(media_type), typeof data === "string" ? `${data.length} characters of base64` : ""];
  return `[${[kind, ...details].filter(Boolean).join(", ")}]`;
}
