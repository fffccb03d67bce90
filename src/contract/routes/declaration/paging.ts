import { z } from "zod";
import { Id } from "../../values.ts";
import { queryNumber } from "./query.ts";

/** A page, newest first, beginning after the cursor of the one before. */
export const PageQuery = z.strictObject({
  limit: queryNumber().int().min(1).max(1000).default(100),
  cursor: Id.optional(),
});

/** What every page of a list says beside its items: `cursor` begins the next page, and is `null` on the last one. */
export const page = { has_more: z.boolean(), cursor: z.string().nullable() };
