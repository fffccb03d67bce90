export { type Danger, dangersIn } from "./command-dangers.ts";
export { holdsSecrets } from "./dangers/files/secrets.ts";
export { changesData } from "./dangers/network/database.ts";
export { runsLater } from "./paths/later-files.ts";
export { fromWorkingDir, isTooLong, locate, startIn, TOO_LONG } from "./paths/paths.ts";
export { MAX_COMMAND_CHARS } from "./syntax/parse-limits.ts";
export { type ParsedCommand, parseCommand, type SimpleCommand } from "./syntax/parsed-command.ts";
export { partsOf, type Role } from "./syntax/parts.ts";
