import { z } from "zod";
import { startPlexus } from "../../tests/support/server/plexus.ts";

const Fields = z.looseObject({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});
const Parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  schema: z.looseObject({ const: z.string().optional() }),
});
const Operation = z.looseObject({
  tags: z.tuple([z.string()]),
  summary: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(Parameter),
  requestBody: z
    .looseObject({
      content: z.looseObject({ "application/json": z.looseObject({ schema: z.object({ $ref: z.string() }) }) }),
    })
    .optional(),
});
const Document = z.looseObject({
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});
type Document = z.infer<typeof Document>;

/** Formats every REST route as a Markdown table, from the server's OpenAPI document. */
export async function restTable(): Promise<string> {
  await using plexus = await startPlexus();
  const document = Document.parse(await (await plexus.fetch("/api/v1/openapi.json")).json());
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const rows = document.tags.flatMap(({ name, description }) => [
    [`**${name}**`, description, ""],
    ...routes
      .filter(({ operation }) => operation.tags[0] === name)
      .map(({ method, path, operation }) => [
        `\`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, (_, parameter) => parameter.toUpperCase())}\``,
        `${operation.summary}${operation.security === undefined ? "" : "; needs no token"}`,
        takenBy(operation, document).join(", "),
      ]),
  ]);
  return [["request", "what it does", "takes"], ["---", "---", "---"], ...rows].map(row).join("\n");
}

/**
 * Lists the fields of the query and the body; `?` marks an optional field, and a field with a single value is shown
 * with it.
 */
function takenBy({ parameters, requestBody }: z.infer<typeof Operation>, document: Document): string[] {
  const inQuery = parameters
    .filter((one) => one.in === "query")
    .map(({ name, required, schema }) => ({ name: schema.const ? `${name}=${schema.const}` : name, required }));
  const reference = requestBody?.content["application/json"].schema.$ref ?? "";
  const { properties, required } = Fields.parse(document.components.schemas[reference.split("/").at(-1) ?? ""] ?? {});
  const inBody = Object.keys(properties).map((name) => ({ name, required: required.includes(name) }));
  return [...inQuery, ...inBody].map(({ name, required }) => `\`${name}${required ? "" : "?"}\``);
}

function row(cells: string[]): string {
  return `| ${cells.join(" | ")} |`;
}
