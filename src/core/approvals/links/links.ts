import { timingSafeEqual } from "node:crypto";
import type { RespondResult } from "../../../contract/approvals/decision.ts";
import { LINK, type OpenedLink } from "../../../contract/link.ts";
import { seconds } from "../../../contract/values.ts";
import type { LinkRow } from "../../../storage/links.ts";
import type { Storage } from "../../../storage/storage.ts";
import { toApproval } from "../approval-view.ts";
import type { ApprovalViews } from "../approval-views.ts";
import type { Approvals } from "../approvals.ts";
import { linkOver } from "../decide.ts";
import { type LinkCounts, linkHash } from "./link-maker.ts";

const OPERATOR = { kind: "operator" } as const;
const NO_HASH = Buffer.alloc(32);

export type Links = ReturnType<typeof createLinks>;

type LinksNeed = {
  storage: Pick<Storage, "approvals" | "links">;
  approvals: Pick<Approvals, "decideByLink">;
  views: Pick<ApprovalViews, "show" | "review">;
  /** Ids of the webhooks whose links are valid. */
  senders: string[];
  counts: LinkCounts;
  now: () => number;
};

/** One-time links let somebody without a token decide one request. Only `decide` decides. */
export function createLinks({ storage, approvals, views, senders, counts, now }: LinksNeed) {
  /** Looks up a link by its text and checks the secret. */
  async function known(text: string): Promise<LinkRow> {
    const [, id = "", secret = ""] = LINK.exec(text) ?? [];
    const row = await storage.links.get(id);
    // Compare even if there is no such link, so that timing does not reveal which ids exist.
    const isRight = timingSafeEqual(linkHash(secret), row ? Buffer.from(row.hash, "hex") : NO_HASH);
    if (row && isRight && senders.includes(row.webhookId)) return row;
    counts.refused++;
    throw linkOver();
  }

  return {
    /** Shows the request. Opening does not use up the link: chat programs fetch links. */
    async open(text: string): Promise<OpenedLink> {
      const link = await known(text);
      const row = await storage.approvals.get(link.approvalId);
      if (!row) throw linkOver();
      counts.opened++;
      const { status, resolvedAt, resolvedBy } = row;
      if (resolvedAt !== null && resolvedBy !== null)
        return {
          type: "already_resolved",
          approval_id: row.id,
          status,
          resolved_by: resolvedBy,
          resolved_at: seconds(resolvedAt),
        };
      if (link.expiresAt <= now()) throw linkOver();
      const approval = toApproval(row);
      return {
        type: "ok",
        name: link.name,
        verdict: link.verdict,
        expires_at: seconds(link.expiresAt),
        approval: await views.show(approval, OPERATOR),
        context: await views.review(approval),
      };
    },

    /** Decides the link's request, or returns the earlier decision. */
    async decide(text: string, decision: { approve: boolean; message?: string | undefined }): Promise<RespondResult> {
      const { id, approvalId, name } = await known(text);
      const result = await approvals.decideByLink({ id, approvalId, name }, decision);
      if (result.type === "ok") counts.decided++;
      return result;
    },
  };
}
