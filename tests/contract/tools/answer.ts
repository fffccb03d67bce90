import { expect } from "bun:test";
import { type ErrorCode, ErrorResult } from "../../../src/contract/refusals/errors.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import type { ToolAnswer } from "../../support/mcp/mcp-client.ts";
import { declared, type ToolName } from "../../support/mcp/tool-answers.ts";

/** Expects an answer as the tool declares it, with these values, that marks all text by others as untrusted. */
export function expectAnswer(name: ToolName, answer: ToolAnswer, expected: JsonObject = {}): void {
  expect(answer.isError).toBe(false);
  expectOneText(answer);
  expect(declared(name).answer.parse(answer.value)).toMatchObject(expected);
  const marked = declared(name).untrusted.filter((field) => field in answer.value);
  expect(answer.value["untrusted"]).toEqual(marked.length > 0 ? marked : undefined);
}

export function expectRefusal(answer: ToolAnswer, code: ErrorCode): void {
  expect(answer.isError).toBe(true);
  expectOneText(answer);
  expect(ErrorResult.parse(answer.value).code).toBe(code);
}

/** Expects one text block with the JSON, and the same as structured content. */
function expectOneText(answer: ToolAnswer): void {
  expect(answer.structured).toEqual(answer.value);
  expect(answer.text).toBe(JSON.stringify(answer.value));
}
