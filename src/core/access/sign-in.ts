import { createHash, randomBytes } from "node:crypto";
import { tokenRevoked } from "../../contract/refusals/errors.ts";
import { seconds } from "../../contract/values.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Decider } from "./principals.ts";
import type { Tokens } from "./tokens.ts";

const CODE_LIVES_MS = 10 * 60_000;
/** More than one person opens pages in that time: the maker's own oldest goes first, and never another's. */
const MAX_CODES_OF_ONE = 20;

export type SignIn = ReturnType<typeof createSignIn>;

type SignInNeed = { storage: Pick<Storage, "signInCodes">; tokens: Tokens; now: () => number };

/** How a browser gets a token without any token in a URL: by a code that works once, and not for long. */
export function createSignIn({ storage, tokens, now }: SignInNeed) {
  return {
    /** A code that signs a page in as this principal. */
    async newCode(maker: Decider): Promise<{ code: string; expires_at: number }> {
      const code = randomBytes(24).toString("base64url");
      const expiresAt = now() + CODE_LIVES_MS;
      const tokenId = maker.kind === "token" ? maker.id : null;
      const made = { hash: hashOf(code), tokenId, expiresAt };
      if (!(await storage.signInCodes.create(made, MAX_CODES_OF_ONE, now()))) throw tokenRevoked();
      return { code, expires_at: seconds(expiresAt) };
    },

    /** Swaps a code for a token; `undefined` when it was used, is too old, never was, or its maker was revoked. */
    redeem: (code: string): Promise<{ token: string; expires_at: number } | undefined> =>
      // The hash of a guess tells nothing about the one that was missed, so it may be looked up.
      tokens.createForWeb(hashOf(code)),

    /** Ends every page's sign-in, and every code that is not used yet; returns how many pages there were. */
    endAll: (): Promise<number> => tokens.endEveryWeb(),
  };
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
