import { z } from "zod";

/** An optional argument: absent and `null` mean the same. */
export function optional<T extends z.ZodType>(schema: T) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
}

/** An id from a caller, safe to repeat in an answer; only a lookup shows whether it exists. */
export const Id = z
  .string()
  .min(1)
  .max(64)
  .refine((id) => !/\p{Cc}|\p{Cs}/u.test(id), "must have no control characters");

/** The longest reason for a denial. */
export const MAX_MESSAGE_CHARS = 8_000;

export const Path = z.string().min(1).max(4096);

/** Of a text that people search for. */
export const MAX_SEARCH_CHARS = 200;

export const MAX_NAME_CHARS = 100;
/** The longest name that a reader gives itself. */
export const MAX_CONSUMER_CHARS = 100;
/** The name that a reader gives itself, to be told on where it was told before. */
export const Consumer = optional(z.string().min(1).max(MAX_CONSUMER_CHARS));
/** A name that people choose: for sessions and tokens. */
export const Name = z
  .string()
  .min(1)
  .max(MAX_NAME_CHARS)
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} ._@:-]*$/u,
    "must begin with a letter or digit, and go on with letters, digits, spaces and . _ @ : -",
  );

export const MAX_JSON_DEPTH = 100;

/** A JSON object passed on unchanged: no key is dropped, renamed or reordered. */
export const JsonObject = z
  .custom<Record<string, unknown>>(
    (value) => isJsonObject(value) && isShallow(value),
    `must be a JSON object, at most ${MAX_JSON_DEPTH} levels deep`,
  )
  .meta({ type: "object", additionalProperties: true });
export type JsonObject = z.infer<typeof JsonObject>;

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The API uses seconds; times are stored in milliseconds. */
export const UnixSeconds = z.int().nonnegative();

/** Rounds an amount in US dollars, to remove floating-point noise from sums and differences. */
export function dollars(amount: number): number {
  return Math.round(amount * 1e9) / 1e9;
}

export function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/**
 * Returns whether JSON is at most `levels` deep; deeper JSON would overflow the stack when it is written or traversed.
 */
export function isShallow(value: object, levels = MAX_JSON_DEPTH): boolean {
  if (levels === 0) return false;
  // `Object.values` of an array creates a key for each element, which takes seconds for millions.
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof child === "object" && child !== null && !isShallow(child, levels - 1)) return false;
  }
  return true;
}
