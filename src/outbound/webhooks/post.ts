import { createHmac } from "node:crypto";

/** How one attempt went: `failed` may pass by itself, `refused` hardly will, and `gone` says to stop. */
export type Attempt = "delivered" | "failed" | "refused" | "gone";
/** `notBeforeMs`: how long the receiver wants to be left alone. */
type Posted = { attempt: Attempt; notBeforeMs: number };

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
    return { attempt: judged(response.status), notBeforeMs: waitIn(response.headers.get("retry-after")) };
  } catch {
    return { attempt: "failed", notBeforeMs: 0 };
  }
}

/** Chat services say in seconds when they take the next message. */
function waitIn(header: string | null): number {
  return /^\d{1,6}(\.\d+)?$/.test(header ?? "") ? Number(header) * 1000 : 0;
}

/** The time is signed too, so that a receiver can refuse what somebody recorded and sends again. */
function signature(secret: string, atSecs: number, body: string): string {
  return `t=${atSecs},v1=${createHmac("sha256", secret).update(`${atSecs}.${body}`).digest("hex")}`;
}

function judged(status: number): Attempt {
  if (status >= 200 && status < 300) return "delivered";
  if (status === 410) return "gone";
  return status >= 500 || PASSING.includes(status) ? "failed" : "refused";
}
