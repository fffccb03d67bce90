import type { Rule } from "../rule.ts";

const AS_ROOT = new Set(["sudo", "sudo-rs", "sudoedit", "doas", "pkexec"]);
const AS_ANOTHER = new Set(["su", "runuser", "sg", "newgrp", "gosu", "su-exec", "setpriv"]);
const NAMESPACES = new Set(["chroot", "nsenter", "unshare"]);

/** Runs with more rights than the child has, or outside of its confinement. */
export const privileges: Rule = {
  rule: "privileges",
  test: ({ program }) => {
    if (AS_ROOT.has(program)) return `runs as root (${program})`;
    if (AS_ANOTHER.has(program)) return `runs as another user (${program})`;
    return NAMESPACES.has(program) ? `runs in another root or namespace (${program})` : undefined;
  },
};
