import { expect } from "bun:test";
import Ajv from "ajv/dist/2020.js";
import { z } from "zod";
import type { Route } from "../../../src/contract/routes/declaration/route.ts";
import type { Plexus } from "../../support/server/plexus.ts";
import { fieldsOf, readBlocks } from "../support/event-reader.ts";

const Media = z.object({
  schema: z.unknown(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
  "x-event-data": z.unknown().optional(),
  "x-line": z.unknown().optional(),
});
export type Media = z.infer<typeof Media>;
const Content = z.record(z.string(), Media);
const Described = z.looseObject({
  operationId: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })),
  requestBody: z.looseObject({ content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: Content })),
});
type Described = z.infer<typeof Described>;
const Document = z.looseObject({
  openapi: z.literal("3.1.0"),
  paths: z.record(z.string(), z.record(z.string(), Described)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});
export type Document = z.infer<typeof Document>;

export async function readDocument(plexus: Plexus): Promise<Document> {
  return Document.parse(await (await plexus.fetch("/api/v1/openapi.json")).json());
}

/** Validates values against the document's schemas, as a generated client would. */
export function createChecks(document: Document) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addSchema(document, "document");
  /** Returns why the value doesn't fit; empty if it does. */
  return (schema: unknown, value: unknown): string[] => {
    const resolved = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/'));
    const validate = ajv.compile(resolved);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

type Sent = { params?: Record<string, string>; query?: string; body?: object; token?: string | null };

/**
 * Sends requests to declared routes, validates requests and answers against the document, and records which routes were
 * tried.
 */
export function createSender(plexus: Plexus, document: Document) {
  const check = createChecks(document);
  const tried = new Set<string>();

  async function send({ method, path }: Route, status: number, { params = {}, query, body, token }: Sent = {}) {
    const template = path.replaceAll(/:(\w+)/g, "{$1}");
    const route = `${method.toLowerCase()} ${template}`;
    const described = document.paths[template]?.[method.toLowerCase()];
    if (!described) throw new Error(`the document has no ${route}`);
    const names = new URLSearchParams(query).keys().toArray();
    const known = described.parameters.filter((one) => one.in === "query").map(({ name }) => name);
    expect({ route, unknown: names.filter((name) => !known.includes(name)) }).toEqual({ route, unknown: [] });
    if (body && status < 400)
      expect({ route, body: check(described.requestBody?.content["application/json"]?.schema, body) }).toEqual({
        route,
        body: [],
      });
    const target = path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ""));
    const response = await plexus.fetch(`${target}${query ? `?${query}` : ""}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      ...(token !== undefined && { token }),
    });
    tried.add(`${route} ${response.status}`);
    return checked(route, described, response, status);
  }

  async function checked(route: string, described: Described, response: Response, status: number): Promise<unknown> {
    const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
    const media = described.responses[response.status]?.content[type];
    const isStream = type === "text/event-stream";
    const body = isStream ? await eventsIn(response) : await response.text();
    expect({ route, status: response.status, body, described: media !== undefined }).toEqual({
      route,
      status,
      body,
      described: true,
    });
    const values = isStream ? body : [type === "application/json" ? JSON.parse(String(body)) : body];
    const schema = isStream ? media?.["x-event-data"] : media?.schema;
    for (const value of values)
      expect({ route, value, problems: check(schema, value) }).toMatchObject({ problems: [] });
    if (status >= 400) expect(Object.keys(media?.examples ?? {})).toContain(JSON.parse(String(body)).error.code);
    return values[0];
  }

  return { send, tried };
}

/** The data of the stream's first event, or of all events if the stream ends by itself. */
async function eventsIn(response: Response): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const block of readBlocks(response.body ?? new ReadableStream())) {
    const { data } = fieldsOf(block);
    if (data === undefined) continue;
    found.push(JSON.parse(data));
    break;
  }
  expect(found.length).toBeGreaterThan(0);
  return found;
}
