import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ZodError } from "zod";
import { AppError } from "./contract/refusals/errors.ts";
import { Secret } from "./contract/secret.ts";
import { newSecret } from "./core/access/tokens.ts";

const OPERATOR_TOKEN = "operator-token";

/** The operator's token in this data dir; `undefined` before the first start. */
export function readOperatorToken(dataDir: string): string | undefined {
  return readSecret(join(dataDir, OPERATOR_TOKEN));
}

export function ensureOperatorToken(dataDir: string): string {
  return ensureSecret(join(dataDir, OPERATOR_TOKEN), "plx_operator_");
}

/** The secret that signs webhooks, unless one is configured. */
export function ensureWebhookSecret(dataDir: string): string {
  return ensureSecret(join(dataDir, "webhook-secret"), "plx_webhook_");
}

/** The key that signs the links of webhooks. */
export function ensureLinkKey(dataDir: string): string {
  return ensureSecret(join(dataDir, "link-key"), "plx_link_");
}

/** The secret that the key follows from by which push services know this server. */
export function ensurePushKey(dataDir: string): string {
  return ensureSecret(join(dataDir, "push-key"), "plx_push_");
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}

/** Reads the secret, or creates one. The file is complete and has mode 0600 before it gets its name. */
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

/** Refuses a secret that can't be sent in a header or is easy to guess, so that the server does not start. */
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
    const advice = "Remove the file, and the next start creates a new one; or let the user that runs Plexus read it.";
    throw new AppError("storage_unavailable", `The secret in ${path} can't be used (${reason}). ${advice}`, { cause });
  }
}
