import { z } from "zod";

/** A longer list would not help. */
const MAX_LISTED = 100;

/** A process of a child that Plexus could not stop and had to leave to the user; `command` is the child's own text. */
export const LeftRunning = z.strictObject({ pid: z.int().positive(), command: z.string() });
export type LeftRunning = z.infer<typeof LeftRunning>;

/** Returns the field, which is absent if nothing is left running. */
export function leftRunning(left: LeftRunning[]): { left_running?: LeftRunning[] } {
  return left.length === 0 ? {} : { left_running: left.slice(0, MAX_LISTED) };
}
