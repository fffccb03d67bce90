import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { seconds } from "../../contract/values.ts";
import { type Decider, ownerKey } from "./principals.ts";
import type { Tokens } from "./tokens.ts";

const CODE_LIVES_MS = 10 * 60_000;
/** More than one person opens pages in that time: the maker's own oldest goes first, and never another's. */
const MAX_CODES_OF_ONE = 20;

type Code = { hash: Buffer; maker: Decider; expiresAt: number };

export type SignIn = ReturnType<typeof createSignIn>;

/** How a browser gets a token without any token in a URL: by a code that works once, and not for long. */
export function createSignIn({ tokens, now }: { tokens: Tokens; now: () => number }) {
  let codes: Code[] = [];

  return {
    /** A code that signs a page in as this principal. */
    newCode(maker: Decider): { code: string; expires_at: number } {
      const code = randomBytes(24).toString("base64url");
      const expiresAt = now() + CODE_LIVES_MS;
      const valid = codes.filter((candidate) => candidate.expiresAt > now());
      const own = valid.filter((candidate) => ownerKey(candidate.maker) === ownerKey(maker));
      const excess = own.at(-MAX_CODES_OF_ONE);
      codes = [...valid.filter((candidate) => candidate !== excess), { hash: hashOf(code), maker, expiresAt }];
      return { code, expires_at: seconds(expiresAt) };
    },

    /** Swaps a code for a token; `undefined` when it was used, is too old, or never was. */
    async redeem(code: string): Promise<{ token: string; expires_at: number } | undefined> {
      const hash = hashOf(code);
      const found = codes.find((candidate) => timingSafeEqual(candidate.hash, hash));
      codes = codes.filter((candidate) => candidate !== found && candidate.expiresAt > now());
      if (!found || found.expiresAt <= now() || tokens.revocation({ principal: found.maker }).aborted) return undefined;
      return tokens.createForWeb(found.maker);
    },

    /** Ends every page's sign-in, and every code that is not used yet; tells how many pages there were. */
    endAll(): Promise<number> {
      codes = [];
      return tokens.endEveryWeb();
    },
  };
}

function hashOf(code: string): Buffer {
  return createHash("sha256").update(code).digest();
}
