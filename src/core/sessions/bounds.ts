import { AppError } from "../../contract/refusals/errors.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import type { SessionSize } from "../../storage/sessions.ts";

const KILOBYTE = 1024;
const MAX_CONFIG_BYTES = 256 * KILOBYTE;
/** The bounds per owner. */
export const MOST_SESSIONS: SessionSize = { count: 10_000, bytes: 64 * KILOBYTE * KILOBYTE };

/** Refuses settings larger than any child needs: every turn reads them, and every fork copies them. */
export function checkSize(config: SessionConfig): void {
  const bytes = Buffer.byteLength(JSON.stringify(config));
  if (bytes <= MAX_CONFIG_BYTES) return;
  throw new AppError(
    "invalid_arguments",
    `The settings of this session are ${bytes} bytes of JSON, and at most ${MAX_CONFIG_BYTES} are kept: shorten its lists, and put long text into files or the prompt.`,
  );
}

/** The error that says how many sessions the owner has, and what to do. */
export function tooManySessions({ count, bytes }: SessionSize, most: SessionSize): AppError {
  const what =
    count >= most.count
      ? `${count} sessions, and ${most.count} is the limit`
      : `${count} sessions with ${bytes} bytes of settings, and ${most.bytes} is the limit`;
  return new AppError("limit_reached", (by) => `You have ${what}: delete some${by.remove}, then try again.`);
}
