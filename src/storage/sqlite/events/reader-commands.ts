import type { ReaderStorage } from "../../readers.ts";
import type { TokenQueries } from "../access/tokens.ts";
import type { Write } from "../writer.ts";
import type { ReaderQueries } from "./readers.ts";

type ReaderCommandsNeed = { write: Write; readers: ReaderQueries; tokens: TokenQueries };

export function readerCommands({ write, readers, tokens }: ReaderCommandsNeed): Omit<ReaderStorage, "standing"> {
  return {
    advance: (reader, position, { most, ownerToken, now }) =>
      write(() => {
        // A reader stored after its owner was revoked would never be used or deleted.
        if (tokens.isRevoked(ownerToken)) return;
        if (readers.advance(reader, position, now)) readers.removeOldestOf(reader.owner, most);
      }),
    removeUnusedSince: (before, limit) => write(() => readers.removeUnusedSince(before, limit)),
  };
}
