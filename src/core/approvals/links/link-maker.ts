import { createHash, createHmac } from "node:crypto";
import type { LinkVerdict } from "../../../contract/link.ts";
import type { Storage } from "../../../storage/storage.ts";

const DAY_MS = 24 * 60 * 60_000;
/** A request may wait for a week, but a link in a chat should not stay valid that long. */
const MAX_LIFE_MS = DAY_MS;
/** How long an expired link still shows who decided. */
const KEPT_MS = DAY_MS;
const ID_BYTES = 9;
const SECRET_BYTES = 32;

/** The webhook that sends links, and what its links may decide. */
export type LinkSender = { id: string; name: string; verdict: LinkVerdict };
/** Counters since the server started. */
export type LinkCounts = Record<"made" | "opened" | "decided" | "refused", number>;
export type LinkMaker = ReturnType<typeof createLinkMaker>;

type LinkMakerNeed = {
  storage: Pick<Storage, "approvals" | "links">;
  /** The key that signs links; read only when a link is made. */
  key: () => string;
  counts: LinkCounts;
  now: () => number;
};

/** Makes the links that webhooks send. */
export function createLinkMaker({ storage, key, counts, now }: LinkMakerNeed) {
  return {
    /**
     * Makes the sender's link for a request and stores it before it is sent. A repeated call returns the same link, so
     * a message can be sent again. `undefined` if the request is not pending.
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

/** Only the hash of a secret is stored. */
export function linkHash(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
