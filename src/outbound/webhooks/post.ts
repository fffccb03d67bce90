import { createHmac } from "node:crypto";
import { ANSWER_WITHIN_MS, answered, type Posted, unanswered } from "../posted.ts";

/** The status with which a receiver says that it is gone for good. */
const GONE = [410];

/** `secret` signs the body; `undefined` for services that do not check a signature. */
type Post = { url: string; secret: string | undefined; body: string; now: () => number; signal: AbortSignal };

/** Posts once. Follows no redirect, and uses only the status and Retry-After of the answer. */
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

/** Signs the time too, so that a receiver can refuse a recorded message that someone sends again. */
function signature(secret: string, atSecs: number, body: string): string {
  return `t=${atSecs},v1=${createHmac("sha256", secret).update(`${atSecs}.${body}`).digest("hex")}`;
}
