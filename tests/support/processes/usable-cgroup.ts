import { createCgroup, ownCgroup, removeCgroup } from "../../../src/claude/process/cgroup.ts";

/** The directory in which this machine lets us make control groups; `undefined` if there is none. */
export function usableCgroup(): string | undefined {
  const own = ownCgroup();
  const made = own && createCgroup(own, crypto.randomUUID());
  if (made) removeCgroup(made);
  return made && own;
}
