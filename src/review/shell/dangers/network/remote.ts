import type { Rule } from "../rule.ts";

const SHELLS = new Set(["ssh", "ssh-copy-id", "slogin", "rsh", "mosh", "autossh", "sshpass", "telnet", "wsl", "adb"]);
const INTO = /^(exec|debug|attach|port-forward|proxy)$/;

/** Runs commands on another machine, which Plexus can't check. */
export const remote: Rule = {
  rule: "remote",
  test: ({ program, args }) => {
    const isHelp = args.length === 1 && /^(-V|--version|--help)$/.test(args[0]?.value ?? "");
    if (SHELLS.has(program) && !isHelp) return `runs commands on another machine (${program})`;
    const verb = /^(kubectl|oc)$/.test(program) ? args.find(({ value }) => INTO.test(value)) : undefined;
    return verb && `runs commands on another machine (${program} ${verb.value})`;
  },
};
