import { createHmac } from "node:crypto";
import { ANSWER_WITHIN_MS, answered, type Posted, unanswered } from "../posted.ts";

/** This says that nobody is there any more. */
const GONE = [410];

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
    return answered(response.status, response.headers.get("retry-after"), GONE);
  } catch (cause) {
    return unanswered(cause);
  }
}

/** The time is signed too, so that a receiver can refuse what somebody recorded and sends again. */
function signature(secret: string, atSecs: number, body: string): string {
  return `t=${atSecs},v1=${createHmac("sha256", secret).update(`${atSecs}.${body}`).digest("hex")}`;
}
