import { z } from "zod";
import { Id } from "../../values.ts";
import { queryNumber } from "./query.ts";

/** A page, newest first, beginning after the previous page's cursor. */
export const PageQuery = z.strictObject({
  limit: queryNumber().int().min(1).max(1000).default(100),
  cursor: Id.optional(),
});

/** The fields of every page beside its items: `cursor` begins the next page, and is `null` on the last page. */
export const page = { has_more: z.boolean(), cursor: z.string().nullable() };
