import { z } from "zod";

/** `by_hand`: a claude that somebody started on their own, supervised through a token of its session. */
export const SessionKind = z.enum(["by_hand"]);
export type SessionKind = z.infer<typeof SessionKind>;
