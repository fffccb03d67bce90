import { z } from "zod";
import { optional } from "./values.ts";

const MAX_ENDPOINT = 2_000;
const MAX_AFTER_SECS = 3_600;

/** Bytes in base64url without padding; a push service and a browser write no other. */
const bytes = (count: number) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${Math.ceil((count * 4) / 3)}}$`), `must be ${count} bytes in base64url`);

/** What a browser has agreed on with its push service. */
export const PushSubscriptionBody = z.strictObject({
  endpoint: z.string().max(MAX_ENDPOINT).describe("where its push service takes messages for it"),
  keys: z.strictObject({
    p256dh: bytes(65).describe("its public key: a point of P-256"),
    auth: bytes(16).describe("its part of the secret"),
  }),
  after_secs: optional(z.int().min(0).max(MAX_AFTER_SECS)).describe(
    "for how long others, such as an agent, may decide first (0)",
  ),
});
export type PushSubscriptionBody = z.infer<typeof PushSubscriptionBody>;

/** What the browser's worker is told; nothing of what is asked for, which the page shows to whoever is signed in. */
export type PushMessage = {
  title: string;
  body: string;
  /** A later message of the same tag takes the place of this one. */
  tag: string;
  /** Where a press on it leads: a fragment of the page. */
  to: string;
};

/** By which push services may reach who runs this server, if something is wrong with what it sends. */
export const PushContact = z
  .string()
  .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s/]+\S*)$/, "must be mailto:YOU@EXAMPLE.COM, or an https URL");

/** A host, with its port where that is not the usual one. */
export const PushHost = z
  .string()
  .regex(
    /^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-fA-F:]+\](:\d{1,5})?$/,
    "must be host names, each with its port if it has one",
  );
