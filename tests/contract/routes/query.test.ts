import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { queryFlag, queryNumber } from "../../../src/contract/routes/declaration/query.ts";

const WORDS = [
  "true",
  "TRUE",
  "1",
  "yes",
  "on",
  "y",
  "enabled",
  "false",
  "0",
  "no",
  "Off",
  "n",
  "disabled",
  "",
  "maybe",
];
const NUMBERS = ["0", "7", "-1", "1.5", "1e3", " 2 ", "", "x", "Infinity", "9007199254740993", ["1", "2"], undefined];

/** The parsed value, and the codes of its problems. */
const read = (schema: z.ZodType, value: unknown) => {
  const { data, error } = schema.safeParse(value);
  return { data, problems: error?.issues.map(({ code }) => code) };
};
const described = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input" });

describe("queryFlag", () => {
  test("reads and describes what z.stringbool does", () => {
    for (const word of [...WORDS, 1, undefined]) expect(read(queryFlag(), word)).toEqual(read(z.stringbool(), word));
    expect(described(queryFlag())).toEqual(described(z.stringbool()));
  });
});

describe("queryNumber", () => {
  test("reads and describes what z.coerce.number does", () => {
    const [ours, theirs] = [queryNumber().int().min(1).max(1000), z.coerce.number().int().min(1).max(1000)];
    for (const text of NUMBERS) expect(read(ours, text)).toEqual(read(theirs, text));
    expect(described(ours)).toEqual(described(theirs));
  });
});
