import { createHmac } from "node:crypto";
import type { Delivery, DeliveryFailure, DeliveryOutcome } from "../../contract/routes/webhooks.ts";

/** `notBeforeMs`: how long the receiver wants to be left alone. */
type Posted = { delivery: Delivery; notBeforeMs: number };

const ANSWER_WITHIN_MS = 10_000;
/** Too early, or too many: worth another try. */
const PASSING = [408, 425, 429];

/** `secret` signs it; none where the receiver is a service that would not look. */
type Post = { url: string; secret: string | undefined; body: string; now: () => number; signal: AbortSignal };

/** Posts once; follows no redirect, and reads nothing of the answer but its status, and when to come back. */
export async function post({ url, secret, body, now, signal }: Post): Promise<Posted> {
  const sentAt = Math.floor(now() / 1000);
  try {
    const response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "Content-Type": "application/json",
        "User-Agent": "plexus",
        ...(secret !== undefined && { "X-Plexus-Signature": signature(secret, sentAt, body) }),
      },
      body,
      signal: AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), signal]),
    });
    await response.body?.cancel();
    const { status } = response;
    const delivery = { outcome: judged(status), status, failure: null };
    return { delivery, notBeforeMs: waitIn(response.headers.get("retry-after")) };
  } catch (cause) {
    return { delivery: { outcome: "failed", status: null, failure: failureIn(cause) }, notBeforeMs: 0 };
  }
}

/** In our own words: a message may have the address in it, which is a secret. */
function failureIn(cause: unknown): DeliveryFailure {
  if (!(cause instanceof Error)) return "connection";
  if (cause.name === "TimeoutError") return "timeout";
  const code = "code" in cause ? String(cause.code) : "";
  if (/^(ENOTFOUND|EAI_\w+|ENODATA|EAGAIN)$/.test(code)) return "unknown_host";
  if (code === "ECONNREFUSED") return "refused";
  return /CERT|SSL|TLS|UNABLE_TO_|HOSTNAME_MISMATCH|ALTNAME/.test(code) ? "certificate" : "connection";
}

/** Chat services say in seconds when they take the next message. */
function waitIn(header: string | null): number {
  return /^\d{1,6}(\.\d+)?$/.test(header ?? "") ? Number(header) * 1000 : 0;
}

/** The time is signed too, so that a receiver can refuse what somebody recorded and sends again. */
function signature(secret: string, atSecs: number, body: string): string {
  return `t=${atSecs},v1=${createHmac("sha256", secret).update(`${atSecs}.${body}`).digest("hex")}`;
}

function judged(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return "delivered";
  if (status === 410) return "gone";
  return status >= 500 || PASSING.includes(status) ? "failed" : "refused";
}
