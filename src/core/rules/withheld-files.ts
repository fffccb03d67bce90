import type { PrivateFiles } from "../../files/private-files.ts";

/** What rules keep from being read. */
export type WithheldFiles = PrivateFiles & {
  /** Whether something at or below the path may be meant, also if it is not there: git keeps what was removed. */
  mayHold(path: string): boolean;
};
