import type { Storage } from "../../storage/storage.ts";
import { tokenIdIn } from "./principals.ts";

/** The owner's name as in the record of decisions; of a revoked token only the id is left. */
export async function ownerName(storage: Pick<Storage, "tokens">, owner: string): Promise<string> {
  const tokenId = tokenIdIn(owner);
  const token = tokenId === undefined ? undefined : await storage.tokens.get(tokenId);
  return token?.name ? `token:${token.name}` : owner;
}
