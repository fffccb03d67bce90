import type { LinkVerdict } from "../contract/link.ts";
import type { ApprovalOutcome } from "./approvals.ts";

/** A link that decides one request, sent with a webhook; stored as a hash. */
export type LinkRow = {
  /** The public half of the link. */
  id: string;
  approvalId: string;
  /** The webhook that sent the link; removing the webhook removes the link. */
  webhookId: string;
  /** The name under which the record lists whoever decides with this link. */
  name: string;
  hash: string;
  verdict: LinkVerdict;
  expiresAt: number;
};

export type LinkStorage = {
  get(id: string): Promise<LinkRow | undefined>;

  /**
   * Creates the link, or keeps the identical one; `false` if its request is not pending. Also deletes links that
   * expired before `before`.
   */
  createIfPending(link: LinkRow, before: number): Promise<boolean>;
  /** Deletes the links of all other webhooks; returns how many. */
  keepOnly(webhookIds: string[]): Promise<number>;
};

/** Returns whether a link permits this decision: on its own request, with its verdict, and before it expires. */
export function opens(
  link: LinkRow | undefined,
  approvalId: string,
  { status, resolvedAt }: Pick<ApprovalOutcome, "status" | "resolvedAt">,
): boolean {
  if (!link || link.approvalId !== approvalId || link.expiresAt <= resolvedAt) return false;
  if (status !== "allowed" && status !== "denied") return false;
  return link.verdict === "any" || link.verdict === (status === "allowed" ? "allow" : "deny");
}
