import type { z } from "zod";
import { ErrorBody } from "../../contract/errors.ts";
import { authorization } from "./token.ts";

const ANSWER_WITHIN_MS = 30_000;

/** The server has said no, in its own words; or there was none, with status 0. */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export type Method = "GET" | "POST" | "DELETE";

/** One REST request, ours unless told otherwise, and its answer as the schema promises it. */
export async function request<Answer extends z.ZodType>(
  answer: Answer,
  method: Method,
  path: string,
  body?: object,
  sender: Record<string, string> = authorization(),
): Promise<z.infer<Answer>> {
  const response = await send(path, {
    method,
    headers: { ...sender, ...(body && { "Content-Type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const parsed = answer.safeParse(await response.json().catch(() => undefined));
  if (parsed.success) return parsed.data;
  throw new Refused(0, "The server answered what this page does not understand: reload it.");
}

/** A response that is one; whatever else comes is thrown as `Refused`. */
export async function send(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, { ...init, credentials: "omit", cache: "no-store" }).catch((cause: unknown) => {
    throw new Refused(0, `Plexus does not answer (${cause instanceof Error ? cause.message : String(cause)}).`);
  });
  if (response.ok) return response;
  const refusal = ErrorBody.safeParse(await response.json().catch(() => undefined)).data;
  throw new Refused(response.status, refusal?.error.message ?? `The server answered ${response.status}.`);
}

export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
