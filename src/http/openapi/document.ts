import type { z } from "zod";
import type { JsonObject } from "../../contract/values.ts";
import { eventText } from "../streams/events.ts";
import { answersIn, type DescribedAnswer } from "./answers.ts";
import type { Operation } from "./description.ts";
import { operationId, schemaName } from "./names.ts";
import { refusals } from "./refusals.ts";
import { componentSchemas, parametersOf } from "./schemas.ts";
import { TAGS } from "./tags.ts";

export const DESCRIPTION = `Lets one agent, or a person, supervise Claude Code: each tool call that a child asks permission for waits until somebody's decision is on disk.

Send \`Authorization: Bearer TOKEN\`: the operator's token may do all (\`plexus token show\`), a named one sees and decides only what it created (\`plexus token create NAME\`), a child's may do nothing here. What is not yours reads the same as what does not exist. Under \`--auth none\`, a request without a token is the operator's.

Ids are UUIDs, times are Unix seconds, and in a body \`null\` means the same as an optional field left out. An argument that does not exist is refused. A refusal is \`{"error":{"code","message"}}\`, and its message says what to do.`;

/** Describes every served route in OpenAPI 3.1, using the schemas that validate its requests. */
export function openApiDocument(operations: Operation[], version: string): JsonObject & { openapi: "3.1.0" } {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const path = operation.route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.route.method.toLowerCase()]: described(operation) };
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
      schemas: componentSchemas(operations),
    },
  };
}

function described(operation: Operation): JsonObject {
  const { route, token, description } = operation;
  const { tag, summary, details, body } = description;
  return {
    operationId: operationId(route),
    tags: [tag],
    summary,
    ...(details && { description: details }),
    ...(token !== "needed" && { security: token === "none" ? [] : [{}, { bearer: [] }] }),
    parameters: parametersOf(operation),
    ...(route.body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: reference(route.body), example: body } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        answersIn(operation).map((answer) => [
          answer.status,
          { description: answer.says, content: { [answer.type]: contentOf(answer) } },
        ]),
      ),
      ...refusals(operation),
    },
  };
}

function contentOf(answer: DescribedAnswer): JsonObject {
  switch (answer.type) {
    case "application/json":
      return { schema: reference(answer.schema), example: answer.example };
    case "application/jsonl":
      return {
        schema: { type: "string" },
        example: `${JSON.stringify(answer.example)}\n`,
        "x-line": reference(answer.schema),
      };
    // OpenAPI 3.1 can't describe the content of a `data` line.
    case "text/event-stream":
      return {
        schema: { type: "string" },
        example: eventText(answer.example),
        "x-event-data": reference(answer.schema),
      };
    default:
      return { schema: { type: "string" } };
  }
}

function reference(schema: z.ZodType): JsonObject {
  return { $ref: `#/components/schemas/${schemaName(schema)}` };
}
