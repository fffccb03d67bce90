import { isJsonObject } from "../../src/contract/values.ts";

const COLUMNS = 110;

export function table(head: string[], rows: string[][]): string {
  const cell = (text: string) => (text === "" ? " |" : ` ${text.replaceAll("|", "\\|")} |`);
  const line = (cells: string[]) => `|${cells.map(cell).join("")}`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/** Formats JSON with fields on separate lines, and short values on one line. */
export function json(value: unknown, indent = ""): string {
  const inner = `${indent}  `;
  const within = (item: unknown) => {
    const line = inOneLine(item);
    return inner.length + line.length <= COLUMNS ? line : json(item, inner);
  };
  if (Array.isArray(value)) return block("[", value.map(within), "]", indent);
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${within(item)}`);
  return block("{", fields, "}", indent);
}

export function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${inOneLine(item)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

function block(open: string, lines: string[], close: string, indent: string): string {
  return `${open}\n${lines.map((line) => `${indent}  ${line}`).join(",\n")}\n${indent}${close}`;
}
