import { z } from "zod";
import { UnixSeconds } from "./values.ts";

/** A code that signs in one page, once. */
export const SignInCode = z.strictObject({
  type: z.literal("created"),
  code: z.string(),
  expires_at: UnixSeconds,
  /** Where others than this machine reach the page, where the operator has said so. */
  public_url: z.string().nullable(),
});

export const SignInBody = z.strictObject({ code: z.string().min(1).max(200) });

/** What the page receives for its code. */
export const SignedIn = z.strictObject({ type: z.literal("signed_in"), token: z.string(), expires_at: UnixSeconds });

/** The caller's name, as recorded with decisions, and the server's version. */
export const Caller = z.strictObject({ type: z.literal("ok"), name: z.string(), version: z.string() });
export type Caller = z.infer<typeof Caller>;
