import type { Storage } from "../../storage/storage.ts";
import { tokenIdIn } from "./principals.ts";

/** An owner as the record of a decision names them; a token that was revoked has left only its id. */
export async function ownerName(storage: Pick<Storage, "tokens">, owner: string): Promise<string> {
  const tokenId = tokenIdIn(owner);
  const token = tokenId === undefined ? undefined : await storage.tokens.get(tokenId);
  return token?.name ? `token:${token.name}` : owner;
}
