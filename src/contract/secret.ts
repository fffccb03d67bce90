import { z } from "zod";

/** A secret that fits into a header and can't be guessed. */
export const Secret = z
  .string()
  .min(16, "must have at least 16 characters")
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");
