import { z } from "zod";
import { Approval } from "./approvals/approval.ts";
import { ApprovalContext } from "./approvals/approval-context.ts";
import { AlreadyResolved } from "./approvals/decision.ts";
import { UnixSeconds } from "./values.ts";

/** What a link may decide: either, or only one of both. */
export const LinkVerdict = z.enum(["any", "allow", "deny"]);
export type LinkVerdict = z.infer<typeof LinkVerdict>;

/** Where the page of links lies. What follows `#` in its address is the link, which no server ever sees in a URL. */
export const LINK_PATH = "/link";

/** The public half of a link and its secret. */
export const LINK = /^([\w-]{12})\.([\w-]{43})$/;
const LinkText = z.string().regex(LINK, "must be a link as a webhook has sent it");

/** Short enough for a body that is read without a token. */
export const MAX_REASON_CHARS = 200;

export const LinkBody = z.strictObject({ link: LinkText });
export const LinkDecisionBody = z.strictObject({
  link: LinkText,
  approve: z.boolean(),
  message: z.string().max(MAX_REASON_CHARS).optional(),
});

/** What a link leads to: its request with all that helps to decide it, or how that has ended. */
export const OpenedLink = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("ok"),
    /** What the record will call whoever uses the link. */
    name: z.string(),
    verdict: LinkVerdict,
    expires_at: UnixSeconds,
    approval: Approval,
    context: ApprovalContext,
  }),
  AlreadyResolved,
]);
export type OpenedLink = z.infer<typeof OpenedLink>;
