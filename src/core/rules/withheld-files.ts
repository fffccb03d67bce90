import type { PrivateFiles } from "../../files/private-files.ts";

/** The files that rules forbid to read. */
export type WithheldFiles = PrivateFiles & {
  /** Whether a rule may match something at or below the path, even if nothing exists there: git keeps removed files. */
  mayHold(path: string): boolean;
};
