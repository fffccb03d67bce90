import { z } from "zod";

/** What the caller may do now, in constant words of Plexus and with no word of anybody else; not for parsing. */
export const NextStep = z.string().min(1);
