import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ZodError } from "zod";
import { AppError } from "./contract/errors.ts";
import { Secret } from "./contract/secret.ts";
import { newSecret } from "./core/access/tokens.ts";

const OPERATOR_TOKEN = "operator-token";

/** The operator's token as this data dir knows it; `undefined` before the first start. */
export function readOperatorToken(dataDir: string): string | undefined {
  return readSecret(join(dataDir, OPERATOR_TOKEN));
}

export function ensureOperatorToken(dataDir: string): string {
  return ensureSecret(join(dataDir, OPERATOR_TOKEN), "plx_operator_");
}

/** What webhooks are signed with, where nobody has chosen it. */
export function ensureWebhookSecret(dataDir: string): string {
  return ensureSecret(join(dataDir, "webhook-secret"), "plx_webhook_");
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}

/** Reads it, or makes one: complete and 0600 before it has its name. */
function ensureSecret(path: string, prefix: string): string {
  const known = readUsable(path);
  if (known) return known;
  const secret = `${prefix}${newSecret()}`;
  const draft = `${path}.${process.pid}.new`;
  const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  writeSync(file, `${secret}\n`);
  fsyncSync(file);
  closeSync(file);
  renameSync(draft, path);
  return secret;
}

/** A server with a secret that nobody can send, or that anybody can guess, is better not started. */
function readUsable(path: string): string | undefined {
  try {
    return Secret.optional().parse(readSecret(path));
  } catch (cause) {
    const reason =
      cause instanceof ZodError
        ? `it ${cause.issues[0]?.message}`
        : cause instanceof Error
          ? cause.message
          : String(cause);
    const advice = "Remove it, and the next start makes a new one; or give it to the user that runs Plexus.";
    throw new AppError("storage_unavailable", `The secret in ${path} can't be used (${reason}). ${advice}`, { cause });
  }
}
