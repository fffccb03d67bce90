export { type Danger, dangersIn } from "./dangers.ts";
export { runsLater } from "./later-files.ts";
export { type Part, partsOf, type Role } from "./parts.ts";
export { fromWorkingDir, isTooLong, locate, startIn, TOO_LONG } from "./paths.ts";
export { type Reading, readCommand, type SimpleCommand } from "./reading.ts";
export { changesData } from "./rules/database.ts";
export { holdsSecrets } from "./rules/secrets.ts";
export { MAX_COMMAND_CHARS } from "./tangle.ts";
