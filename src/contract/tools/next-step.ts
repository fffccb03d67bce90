import { z } from "zod";

/** What the caller can do next, in fixed words of Plexus that quote nobody; not for parsing. */
export const NextStep = z.string().min(1);
