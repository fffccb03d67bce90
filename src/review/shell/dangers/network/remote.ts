import type { Rule } from "../rule.ts";

const SHELLS = new Set(["ssh", "ssh-copy-id", "slogin", "rsh", "mosh", "autossh", "sshpass", "telnet", "wsl", "adb"]);
const INTO = /^(exec|debug|attach|port-forward|proxy)$/;

/** Works on another machine, where none of this can be told. */
export const remote: Rule = {
  rule: "remote",
  test: ({ program, args }) => {
    const isAsking = args.length === 1 && /^(-V|--version|--help)$/.test(args[0]?.value ?? "");
    if (SHELLS.has(program) && !isAsking) return `runs commands on another machine (${program})`;
    const verb = /^(kubectl|oc)$/.test(program) ? args.find(({ value }) => INTO.test(value)) : undefined;
    return verb && `runs commands on another machine (${program} ${verb.value})`;
  },
};
