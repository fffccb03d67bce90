import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Parameter, Schema } from "./schemas.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** A table of an object's fields, or of a request's parameters. */
export function fieldsOf(shown: Schema | { parameters: Parameter[] }): Html | Html[] {
  if ("parameters" in shown) {
    const rows = shown.parameters.map(({ name, in: place, schema, required, description }) =>
      row(name, schema, [place, ...(required ? ["required"] : []), ...(description ? [description] : [])]),
    );
    return table(rows);
  }
  const kinds = shown.oneOf ?? shown.anyOf;
  if (kinds) return kinds.flatMap((kind) => fieldsOf(kind));
  if (!shown.properties) return html`<p>${typeOf(shown)}</p>`;
  const required = shown.required ?? [];
  return table(
    Object.entries(shown.properties).map(([name, schema]) =>
      row(name, schema, [
        ...(required.includes(name) ? [] : ["optional"]),
        ...(schema.description ? [schema.description] : []),
      ]),
    ),
  );
}

function table(rows: Html[]): Html {
  return html`<div class="scroll"><table><thead><tr><th>name</th><th>type</th><th>notes</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function row(name: string, schema: Schema, notes: string[]): Html {
  return html`<tr><td><code>${name}</code></td><td>${typeOf(schema)}</td><td>${notes.join("; ")}</td></tr>`;
}

/** Renders a type: a link to its name, its values, or its parts. */
function typeOf(schema: Schema): Html | Html[] {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum)
    return schema.enum.map((value, index) => html`${index > 0 ? " | " : ""}<code>${String(value)}</code>`);
  const kinds = schema.oneOf ?? schema.anyOf;
  if (kinds) return kinds.map((kind, index) => html`${index > 0 ? " or " : ""}${typeOf(kind)}`);
  if (schema.type === "array") return html`list of ${schema.items ? typeOf(schema.items) : "anything"}`;
  if (schema.properties) return html`object: ${Object.keys(schema.properties).join(", ")}`;
  return html`${[schema.type ?? "anything"].flat().join(" or ")}${schema.default === undefined ? "" : ` (${String(schema.default)})`}`;
}
