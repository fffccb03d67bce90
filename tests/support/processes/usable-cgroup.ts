import { createCgroup, ownCgroup, removeCgroup } from "../../../src/claude/process/cgroup.ts";

/** Where this machine lets us make control groups; `undefined` where it does not. */
export function usableCgroup(): string | undefined {
  const own = ownCgroup();
  const made = own && createCgroup(own, crypto.randomUUID());
  if (made) removeCgroup(made);
  return made && own;
}
