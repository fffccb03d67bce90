import { createHash, createHmac } from "node:crypto";
import type { LinkVerdict } from "../../../contract/link.ts";
import type { Storage } from "../../../storage/storage.ts";

const DAY_MS = 24 * 60 * 60_000;
/** A request may wait for a week; what lies in a chat should not open it for so long. */
const MAX_LIFE_MS = DAY_MS;
/** For so long a link that is over still says who decided. */
const KEPT_MS = DAY_MS;
const ID_BYTES = 9;
const SECRET_BYTES = 32;

/** Who sends links, and what these may decide. */
export type LinkSender = { id: string; name: string; verdict: LinkVerdict };
/** What was done with links since the start. */
export type LinkCounts = Record<"made" | "opened" | "decided" | "refused", number>;
export type LinkMaker = ReturnType<typeof createLinkMaker>;

type LinkMakerNeed = {
  storage: Pick<Storage, "approvals" | "links">;
  /** Signs links; asked for only where one is made. */
  key: () => string;
  counts: LinkCounts;
  now: () => number;
};

/** Makes the links that webhooks send. */
export function createLinkMaker({ storage, key, counts, now }: LinkMakerNeed) {
  return {
    /**
     * The link of this sender for a request: on record before it is sent, and the same one again where the message has
     * to be sent again. `undefined` when the request is not pending.
     */
    async make({ id: webhookId, name, verdict }: LinkSender, approvalId: string): Promise<string | undefined> {
      const asked = await storage.approvals.head(approvalId);
      if (asked?.status !== "pending") return undefined;
      const expiresAt = Math.min(asked.expiresAt, asked.createdAt + MAX_LIFE_MS);
      if (expiresAt <= now()) return undefined;
      const signed = JSON.stringify([approvalId, webhookId, name, verdict, expiresAt]);
      const mac = createHmac("sha512", key()).update(signed).digest();
      const id = mac.subarray(0, ID_BYTES).toString("base64url");
      const secret = mac.subarray(ID_BYTES, ID_BYTES + SECRET_BYTES).toString("base64url");
      const link = { id, approvalId, webhookId, name, hash: linkHash(secret).toString("hex"), verdict, expiresAt };
      if (!(await storage.links.createIfPending(link, now() - KEPT_MS))) return undefined;
      counts.made++;
      return `${id}.${secret}`;
    },
  };
}

/** What is stored of a secret. */
export function linkHash(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
