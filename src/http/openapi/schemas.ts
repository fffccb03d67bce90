import { z } from "zod";
import { ANSWERS, BODIES } from "./answers.ts";
import type { Operation } from "./operation.ts";

export const DESCRIPTION = `Lets one agent, or a person, supervise Claude Code: each tool call that a child asks permission for waits until somebody's decision is on disk.

Send \`Authorization: Bearer TOKEN\`: the operator's token may do all (\`plexus token show\`), a named one sees and decides only what it created (\`plexus token create NAME\`), a child's may do nothing here. What is not yours reads the same as what does not exist. Under \`--auth none\`, a request without a token is the operator's.

Ids are UUIDs, times are Unix seconds, and in a body \`null\` means the same as an optional field left out. An argument that does not exist is refused. A refusal is \`{"error":{"code","message"}}\`, and its message says what to do.`;

const PARAMETERS: Record<string, string> = {
  id: "The approval's id",
  key: "The session's id, or its name",
  turn_id: "The turn's id",
  name: "The token's name",
};

/** The part of JSON Schema that our schemas make use of. */
export type Schema = {
  $ref?: string | undefined;
  type?: string | string[] | undefined;
  description?: string | undefined;
  const?: unknown;
  enum?: unknown[] | undefined;
  default?: unknown;
  items?: Schema | undefined;
  properties?: Record<string, Schema> | undefined;
  required?: string[] | undefined;
  oneOf?: Schema[] | undefined;
  anyOf?: Schema[] | undefined;
};
const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    description: z.string().optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    default: z.unknown().optional(),
    items: Schema.optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).optional(),
    oneOf: z.array(Schema).optional(),
    anyOf: z.array(Schema).optional(),
  }),
);

export type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required?: true;
  description?: string;
  schema: Schema;
};

/** Everything that has a name in the document: requests as they may be sent, answers as they come. */
export function componentSchemas(): Record<string, Schema> {
  return { ...named(BODIES, "input"), ...named(ANSWERS, "output") };
}

/** Each under its name, and referred to by it wherever else it stands. */
function named(schemas: Record<string, z.ZodType>, io: "input" | "output"): Record<string, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const uri = (id: string) => `#/components/schemas/${id}`;
  const made = z.toJSONSchema(registry, { io, uri, unrepresentable: "any", override: withoutSafeBounds });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, Schema.parse(schema)]),
  );
}

export function parametersOf({ path, query, answers }: Operation): Parameter[] {
  const text: Schema = { type: "string" };
  const inPath = [...path.matchAll(/:(\w+)/g)].map(
    ([, name = ""]): Parameter => ({
      name,
      in: "path",
      required: true,
      description: PARAMETERS[name] ?? "",
      schema: text,
    }),
  );
  const asked = query ? Schema.parse(z.toJSONSchema(query, { io: "input", override: withoutSafeBounds })) : {};
  const inQuery = Object.entries(asked.properties ?? {}).map(
    ([name, schema]): Parameter => ({
      name,
      in: "query",
      ...(asked.required?.includes(name) && { required: true }),
      schema,
    }),
  );
  const isStream = Object.values(answers).some((answer) => "events" in answer);
  const last: Parameter = {
    name: "Last-Event-ID",
    in: "header",
    description: "The last id that was read",
    schema: text,
  };
  return [...inPath, ...inQuery, ...(isStream ? [last] : [])];
}

/** That an integer is one that JavaScript can hold goes without saying. */
function withoutSafeBounds({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
