export { type Danger, dangersIn } from "./dangers.ts";
export { type Part, partsOf, type Role } from "./parts.ts";
export { locate, startIn } from "./paths.ts";
export { type Reading, readCommand, type SimpleCommand } from "./reading.ts";
