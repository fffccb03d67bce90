import type { JsonObject } from "../../contract/values.ts";
import { EXAMPLES, STREAM_EXAMPLES } from "./examples.ts";
import { type Answer, type Operation, TAGS } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { refusals } from "./refusals.ts";
import { componentSchemas, DESCRIPTION, parametersOf } from "./schemas.ts";

/** Describes every route, in OpenAPI 3.1, out of the schemas that validate what comes. */
export function openApiDocument(version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of OPERATIONS) {
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method]: described(operation) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Plexus", version, description: DESCRIPTION, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/", description: "The server that this document comes from." }],
    security: [{ bearer: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The operator's token, or a named one." },
      },
      schemas: componentSchemas(),
    },
  };
}

function described(operation: Operation): JsonObject {
  const { id, tag, summary, details, token, body, answers } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(details && { description: details }),
    ...(token && { security: token === "none" ? [] : [{}, { bearer: [] }] }),
    parameters: parametersOf(operation),
    ...(body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: reference(body), example: EXAMPLES[body] } },
      },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answered(answer)])),
      ...refusals(operation),
    },
  };
}

function answered(answer: Answer): JsonObject {
  return { description: answer.says, content: contentOf(answer) };
}

function contentOf(answer: Answer): JsonObject {
  if ("json" in answer)
    return { "application/json": { schema: reference(answer.json), example: EXAMPLES[answer.json] } };
  if ("text" in answer) return { [answer.text]: { schema: { type: "string" } } };
  if ("lines" in answer) {
    const example = `${JSON.stringify(EXAMPLES[answer.lines])}\n`;
    return { "application/jsonl": { schema: { type: "string" }, example, "x-line": reference(answer.lines) } };
  }
  // OpenAPI 3.1 has no word for what a `data` line holds.
  const stream = { schema: { type: "string" }, example: STREAM_EXAMPLES[answer.events] };
  return { "text/event-stream": { ...stream, "x-event-data": reference(answer.events) } };
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
