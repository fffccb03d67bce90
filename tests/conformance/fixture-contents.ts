import type { CallToolResult, PromptArgument, PromptMessage, Tool } from "@modelcontextprotocol/sdk/types.js";
import { PNG, text, WAV } from "./samples.ts";

export type ContentTool = {
  description: string;
  inputSchema?: Tool["inputSchema"];
  run(input: unknown): CallToolResult;
};

type FixturePrompt = {
  description: string;
  arguments?: PromptArgument[];
  contents(args: Record<string, string>): PromptMessage["content"][];
};

/** The tools of the suite that only answer, in all revisions. Each one's scenario describes what it must do. */
export const CONTENT_TOOLS: Record<string, ContentTool> = {
  test_simple_text: {
    description: "Answers with a text",
    run: () => ({ content: [text("This is a simple text response for testing.")] }),
  },
  test_image_content: {
    description: "Answers with an image",
    run: () => ({ content: [{ type: "image", ...PNG }] }),
  },
  test_audio_content: {
    description: "Answers with a sound",
    run: () => ({ content: [{ type: "audio", ...WAV }] }),
  },
  test_embedded_resource: {
    description: "Answers with a resource",
    run: () => ({
      content: [
        resource("test://embedded-resource", { mimeType: "text/plain", text: "This is an embedded resource content." }),
      ],
    }),
  },
  test_multiple_content_types: {
    description: "Answers with a text, an image and a resource",
    run: () => ({
      content: [
        text("Multiple content types test:"),
        { type: "image", ...PNG },
        resource("test://mixed-content-resource", {
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        }),
      ],
    }),
  },
  test_error_handling: {
    description: "Fails",
    run: () => ({ isError: true, content: [text("This tool intentionally returns an error for testing")] }),
  },
  json_schema_2020_12_tool: {
    description: "Has a schema with all that JSON Schema 2020-12 brought",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      allOf: [{ anyOf: [{ required: ["name"] }, { required: ["address"] }] }],
      if: { required: ["address"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, never awaited.
      then: { required: ["name"] },
      else: {},
      additionalProperties: false,
    },
    run: (input) => ({ content: [text(JSON.stringify(input))] }),
  },
};

export const RESOURCES: Record<string, { mimeType: string; text: string } | { mimeType: string; blob: string }> = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: PNG.mimeType, blob: PNG.data },
  "test://watched-resource": { mimeType: "text/plain", text: "This is the content of the watched resource." },
};
export const TEMPLATES = [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }];

export const PROMPTS: Record<string, FixturePrompt> = {
  test_simple_prompt: {
    description: "A text",
    contents: () => [text("This is a simple prompt for testing.")],
  },
  test_prompt_with_arguments: {
    description: "A text with two arguments in it",
    arguments: [
      { name: "arg1", required: true },
      { name: "arg2", required: true },
    ],
    contents: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    description: "A resource, and a text",
    arguments: [{ name: "resourceUri", required: true }],
    contents: ({ resourceUri = "" }) => [
      {
        type: "resource",
        resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      },
      text("Please process the embedded resource above."),
    ],
  },
  test_prompt_with_image: {
    description: "An image, and a text",
    contents: () => [{ type: "image", ...PNG }, text("Please analyze the image above.")],
  },
};

export function listedResources() {
  return Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType }));
}

/** The content of a resource, from the fixture or from a template. */
export function resourceAt(uri: string) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  const found = RESOURCES[uri];
  if (id === undefined) return found && { contents: [{ uri, ...found }] };
  const made = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return { contents: [{ uri, mimeType: "application/json", text: made }] };
}

export function listedPrompts() {
  return Object.entries(PROMPTS).map(([name, { description, arguments: args = [] }]) => ({
    name,
    description,
    arguments: args,
  }));
}

export function messagesOf(prompt: FixturePrompt, args: Record<string, string> = {}) {
  return prompt.contents(args).map((content) => ({ role: "user" as const, content }));
}

export function completionOf(value: string) {
  return { values: [`${value}-completed`], total: 1, hasMore: false };
}

function resource(uri: string, contents: { mimeType: string; text: string }) {
  return { type: "resource" as const, resource: { uri, ...contents } };
}
