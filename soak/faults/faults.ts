import { badBodies } from "./bad-bodies.ts";
import { clockJumps } from "./clock-jumps.ts";
import { noDescriptors } from "./descriptors.ts";
import type { Fault } from "./finding.ts";
import { fullDisk } from "./full-disk.ts";
import { idleConnections } from "./idle-connections.ts";
import { lockedDatabase } from "./locked-database.ts";
import { slowLoris } from "./slow-loris.ts";
import { wrongTokens } from "./wrong-tokens.ts";

/** The faults, each tested on its own server. */
export const FAULTS: Record<string, Fault> = {
  "a full disk": fullDisk,
  "a database that another program locks": lockedDatabase,
  "a clock that jumps": clockJumps,
  "no file descriptors left": noDescriptors,
  "idle connections": idleConnections,
  "callers that dribble": slowLoris,
  "bodies that are too much": badBodies,
  "wrong tokens": wrongTokens,
};
