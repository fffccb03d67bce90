import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { z } from "zod";
import { UsageError } from "../../../config.ts";
import { problemsIn } from "../../../contract/arguments/problems.ts";
import { Grant } from "../../../contract/routes/tokens.ts";
import { fileFailure } from "../../server/file-failure.ts";

const GrantFile = z.union([z.strictObject({ grant: Grant }).transform(({ grant }) => grant), Grant]);
const EXAMPLE = 'grant = ["Bash(npm test)", "Edit(./src/**)"]';

/** The patterns that a token may allow by itself, from a TOML or JSON file. The server parses each pattern. */
export function readGrant(path: string): string[] {
  const content = contentOf(path);
  const read = GrantFile.safeParse(content);
  if (read.success) return read.data;
  const problems = problemsIn(read.error, GrantFile, content, "the file");
  throw new UsageError(`${path} is no list of patterns (${problems}): write ${EXAMPLE}.`);
}

function contentOf(path: string): unknown {
  const text = textOf(path);
  try {
    return path.endsWith(".json") ? JSON.parse(text) : parse(text);
  } catch (cause) {
    const [why] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    throw new UsageError(`${path} can't be read as TOML or JSON: ${why}.`);
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw fileFailure(`The grant ${path} can't be read`, cause);
  }
}
