import { z } from "zod";

/** How much a child may do unasked. */
export const Supervision = z.enum(["strict", "default", "inherit"]);
export type Supervision = z.infer<typeof Supervision>;
