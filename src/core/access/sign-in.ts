import { createHash, randomBytes } from "node:crypto";
import { tokenRevoked } from "../../contract/refusals/errors.ts";
import { seconds } from "../../contract/values.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Decider } from "./principals.ts";
import type { Tokens } from "./tokens.ts";

const CODE_LIVES_MS = 10 * 60_000;
/** More than a person opens in that time. Beyond it, the same maker's oldest code is removed. */
const MAX_CODES_OF_ONE = 20;

export type SignIn = ReturnType<typeof createSignIn>;

type SignInNeed = { storage: Pick<Storage, "signInCodes">; tokens: Tokens; now: () => number };

/** Signs browsers in without a token in a URL: by a code that works once and expires soon. */
export function createSignIn({ storage, tokens, now }: SignInNeed) {
  return {
    /** Makes a code that signs a page in as this principal. */
    async newCode(maker: Decider): Promise<{ code: string; expires_at: number }> {
      const code = randomBytes(24).toString("base64url");
      const expiresAt = now() + CODE_LIVES_MS;
      const tokenId = maker.kind === "token" ? maker.id : null;
      const made = { hash: hashOf(code), tokenId, expiresAt };
      if (!(await storage.signInCodes.create(made, MAX_CODES_OF_ONE, now()))) throw tokenRevoked();
      return { code, expires_at: seconds(expiresAt) };
    },

    /** Exchanges a code for a token; `undefined` if it was used, is expired or unknown, or its maker was revoked. */
    redeem: (code: string): Promise<{ token: string; expires_at: number } | undefined> =>
      // A plain lookup is safe: the timing of a wrong hash reveals nothing about a valid code.
      tokens.createForWeb(hashOf(code)),

    /** Signs every page out and deletes all unused codes; returns the number of pages. */
    endAll: (): Promise<number> => tokens.endEveryWeb(),
  };
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
