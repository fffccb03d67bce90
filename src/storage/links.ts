import type { LinkVerdict } from "../contract/link.ts";
import type { ApprovalOutcome } from "./approvals.ts";

/** A link that decides one request, sent with one webhook; stored as a hash. */
export type LinkRow = {
  /** Its public half. */
  id: string;
  approvalId: string;
  /** The webhook that it was sent with, and goes with. */
  webhookId: string;
  /** What the record calls whoever uses it. */
  name: string;
  hash: string;
  verdict: LinkVerdict;
  expiresAt: number;
};

export type LinkStorage = {
  get(id: string): Promise<LinkRow | undefined>;

  /**
   * Makes the link, or leaves the same one as it is; `false` when its request is not pending. Forgets those that expired
   * before `before`.
   */
  createIfPending(link: LinkRow, before: number): Promise<boolean>;
  /** Forgets the links of all other webhooks; returns how many. */
  keepOnly(webhookIds: string[]): Promise<number>;
};

/** Whether a link may decide this: only its own request, only as it may, and only in its time. */
export function opens(
  link: LinkRow | undefined,
  approvalId: string,
  { status, resolvedAt }: Pick<ApprovalOutcome, "status" | "resolvedAt">,
): boolean {
  if (!link || link.approvalId !== approvalId || link.expiresAt <= resolvedAt) return false;
  if (status !== "allowed" && status !== "denied") return false;
  return link.verdict === "any" || link.verdict === (status === "allowed" ? "allow" : "deny");
}
