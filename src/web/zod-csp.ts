import { z } from "zod";

/** The page's policy forbids code that is made from text, which zod would try; so this comes before every schema. */
z.config({ jitless: true });
