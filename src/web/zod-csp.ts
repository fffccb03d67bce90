import { z } from "zod";

/** The page's CSP forbids code generation, which zod would try. Import this before every schema. */
z.config({ jitless: true });
