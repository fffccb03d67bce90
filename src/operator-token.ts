import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { newSecret } from "./domain/tokens.ts";

/** The operator's token as this data dir knows it; `undefined` before the first start. */
export function readOperatorToken(dataDir: string): string | undefined {
  try {
    return readFileSync(fileIn(dataDir), "utf8").trim() || undefined;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}

/** Reads the token, or makes one: complete and 0600 before it has its name. */
export function ensureOperatorToken(dataDir: string): string {
  const known = readOperatorToken(dataDir);
  if (known) return known;
  const token = `plx_operator_${newSecret()}`;
  const draft = `${fileIn(dataDir)}.${process.pid}.new`;
  const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  writeSync(file, `${token}\n`);
  fsyncSync(file);
  closeSync(file);
  renameSync(draft, fileIn(dataDir));
  return token;
}

function fileIn(dataDir: string): string {
  return join(dataDir, "operator-token");
}
