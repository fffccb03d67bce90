import { z } from "zod";
import { Approval } from "./approvals/approval.ts";
import { ApprovalContext } from "./approvals/approval-context.ts";
import { AlreadyResolved } from "./approvals/decision.ts";
import { UnixSeconds } from "./values.ts";

/** What a link may decide: allow and deny, or only one of them. */
export const LinkVerdict = z.enum(["any", "allow", "deny"]);
export type LinkVerdict = z.infer<typeof LinkVerdict>;

/** The path of the links' page. The link follows `#` in the address, so no server ever gets it in a URL. */
export const LINK_PATH = "/link";

/** The public half of a link and its secret. */
export const LINK = /^([\w-]{12})\.([\w-]{43})$/;
const LinkText = z.string().regex(LINK, "must be a link as a webhook has sent it");

/** Short enough for the size limit of bodies without a token. */
export const MAX_REASON_CHARS = 200;

export const LinkBody = z.strictObject({ link: LinkText });
export const LinkDecisionBody = z.strictObject({
  link: LinkText,
  approve: z.boolean(),
  message: z.string().max(MAX_REASON_CHARS).optional(),
});

/** The answer for a link: its request with everything needed to decide it, or how the request has ended. */
export const OpenedLink = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("ok"),
    /** The name under which the record lists whoever decides with the link. */
    name: z.string(),
    verdict: LinkVerdict,
    expires_at: UnixSeconds,
    approval: Approval,
    context: ApprovalContext,
  }),
  AlreadyResolved,
]);
export type OpenedLink = z.infer<typeof OpenedLink>;
