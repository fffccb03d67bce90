import { z } from "zod";
import type { Operation } from "./description.ts";
import { SCHEMAS } from "./names.ts";

/** The part of JSON Schema that our schemas use. */
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

/** The named schemas of the document: bodies as they may be sent, answers as they arrive. */
export function componentSchemas(operations: Operation[]): Record<string, Schema> {
  const bodies = new Set(operations.map(({ route }) => route.body));
  const [asked, answered] = [
    SCHEMAS.filter(([, one]) => bodies.has(one)),
    SCHEMAS.filter(([, one]) => !bodies.has(one)),
  ];
  return { ...named(asked, "input"), ...named(answered, "output") };
}

/** Defines each schema once and refers to it by name everywhere else. */
function named(schemas: typeof SCHEMAS, io: "input" | "output"): Record<string, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of schemas) registry.add(schema, { id });
  const uri = (id: string) => `#/components/schemas/${id}`;
  const made = z.toJSONSchema(registry, { io, uri, unrepresentable: "any", override: withoutSafeBounds });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, Schema.parse(schema)]),
  );
}

export function parametersOf({ route, description }: Operation): Parameter[] {
  const text: Schema = { type: "string" };
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(
    ([, name = ""]): Parameter => ({
      name,
      in: "path",
      required: true,
      description: description.params?.[name] ?? "",
      schema: text,
    }),
  );
  const asked = route.query
    ? Schema.parse(z.toJSONSchema(route.query, { io: "input", override: withoutSafeBounds }))
    : {};
  const inQuery = Object.entries(asked.properties ?? {}).map(
    ([name, schema]): Parameter => ({
      name,
      in: "query",
      ...(asked.required?.includes(name) && { required: true }),
      schema,
    }),
  );
  const last: Parameter = {
    name: "Last-Event-ID",
    in: "header",
    description: "The last id that was read",
    schema: text,
  };
  return [...inPath, ...inQuery, ...("events" in route ? [last] : [])];
}

/** Removes JavaScript's safe-integer limits, which say nothing about a value. */
function withoutSafeBounds({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
