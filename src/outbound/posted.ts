import type { Delivery, DeliveryFailure, DeliveryOutcome } from "../contract/routes/webhooks.ts";

/** `notBeforeMs`: how long the receiver wants to be left alone. */
export type Posted = { delivery: Delivery; notBeforeMs: number };

export const ANSWER_WITHIN_MS = 10_000;
/** Too early, or too many: worth another try. */
const PASSING = [408, 425, 429];

/** What an answer says, by its status alone; `gone` are those by which this receiver says that nobody is there any more. */
export function answered(status: number, retryAfter: string | null | undefined, gone: number[]): Posted {
  const delivery = { outcome: judged(status, gone), status, failure: null };
  return { delivery, notBeforeMs: waitIn(retryAfter) };
}

/** There was no answer. */
export function unanswered(cause: unknown): Posted {
  return { delivery: { outcome: "failed", status: null, failure: failureIn(cause) }, notBeforeMs: 0 };
}

/** In our own words: a message may have the address in it, which is a secret. */
function failureIn(cause: unknown): DeliveryFailure {
  if (!(cause instanceof Error)) return "connection";
  if (cause.name === "TimeoutError") return "timeout";
  const code = "code" in cause ? String(cause.code) : "";
  if (code === PRIVATE_ADDRESS) return "private_address";
  if (/^(ENOTFOUND|EAI_\w+|ENODATA|EAGAIN)$/.test(code)) return "unknown_host";
  if (code === "ECONNREFUSED") return "refused";
  return /CERT|SSL|TLS|UNABLE_TO_|HOSTNAME_MISMATCH|ALTNAME/.test(code) ? "certificate" : "connection";
}

/** The code of our own refusal to connect to something that is not public. */
export const PRIVATE_ADDRESS = "EPRIVATE";

/** Chat services say in seconds when they take the next message. */
function waitIn(header: string | null | undefined): number {
  return /^\d{1,6}(\.\d+)?$/.test(header ?? "") ? Number(header) * 1000 : 0;
}

function judged(status: number, gone: number[]): DeliveryOutcome {
  if (status >= 200 && status < 300) return "delivered";
  if (gone.includes(status)) return "gone";
  return status >= 500 || PASSING.includes(status) ? "failed" : "refused";
}
