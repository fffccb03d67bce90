import { z } from "zod";

/** Listing more would not help anybody. */
const MAX_LISTED = 100;

/** A process of a child that Plexus could not stop and had to leave to the user; `command` is the child's own text. */
export const LeftRunning = z.strictObject({ pid: z.int().positive(), command: z.string() });
export type LeftRunning = z.infer<typeof LeftRunning>;

/** The field is absent when nothing was left running. */
export function leftRunning(left: LeftRunning[]): { left_running?: LeftRunning[] } {
  return left.length === 0 ? {} : { left_running: left.slice(0, MAX_LISTED) };
}
