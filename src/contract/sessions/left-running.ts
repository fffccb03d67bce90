import { z } from "zod";

/** A hundred say as much as thousands. */
const MAX_TOLD = 100;

/** A process of a child that could not be ended, for somebody with more rights to end; its command is the child's text. */
export const LeftRunning = z.strictObject({ pid: z.int().positive(), command: z.string() });
export type LeftRunning = z.infer<typeof LeftRunning>;

/** Told only where there is any. */
export function leftRunning(left: LeftRunning[]): { left_running?: LeftRunning[] } {
  return left.length === 0 ? {} : { left_running: left.slice(0, MAX_TOLD) };
}
