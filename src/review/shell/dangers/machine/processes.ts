import type { ProgramCall } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

/** A reference to a process that the same shell has started. */
const OWN = /^(%\S*|"?\$(!|\{?(?=\w*pid)\w+\}?)"?)$/i;

/** Kills processes that it did not start. */
export const processes: Rule = { rule: "processes", test: findProcesses };

function findProcesses({ program, args }: ProgramCall): Finding {
  if (program === "pkill" || program === "killall" || program === "skill")
    return `kills processes by name (${program})`;
  if (program === "fuser")
    return args.some(({ value }) => /^-\w*k/.test(value)) ? "kills processes (fuser -k)" : undefined;
  if (program !== "kill") return undefined;
  const [signal = "", ...others] = args.map(({ text }) => text);
  if (/^-[0lL]/.test(signal)) return undefined;
  const rest = /^-[sn]$/.test(signal) ? others.slice(1) : signal.startsWith("-") ? others : [signal, ...others];
  return rest.some((word) => word !== "--" && !OWN.test(word)) ? "kills processes (kill)" : undefined;
}
