import { gitArguments } from "../../programs/git-arguments.ts";
import type { ProgramCall } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

const POWER = new Set(["shutdown", "reboot", "halt", "poweroff", "init", "telinit"]);
const SERVICES = new Set(["systemctl", "service", "launchctl", "rc-service", "update-rc.d", "chkconfig", "loginctl"]);
const SCHEDULES = new Set(["crontab", "at", "batch"]);
const NETWORK = new Set(["iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "route", "ifconfig"]);
const ACCOUNTS =
  /^(user(add|mod|del)|group(add|mod|del)|adduser|deluser|passwd|chpasswd|chsh|visudo|vipw|gpasswd|dscl)$/;
const KERNEL = new Set(["insmod", "modprobe", "rmmod", "kexec", "sysctl", "setenforce"]);
const INSTALLERS = /^(apt|apt-get|aptitude|dpkg|dnf|yum|rpm|zypper|pacman|apk|brew|snap|flatpak|port|winget|choco)$/;
const INSTALLS =
  /^(install|reinstall|remove|purge|upgrade|dist-upgrade|full-upgrade|autoremove|uninstall|erase|add|del|downgrade|tap|-[iresSRU]\w*)$/;
const GLOBAL_PACKAGES = /^(npm|pnpm|bun|yarn)$/;
const READ_ONLY = /^(status|show|list[\w-]*|is-\w+|cat|help|-l|-a|-n|-S|-L|--version|--help)$/;

/** Changes the machine itself, for all its users. */
export const machine: Rule = { rule: "machine", test: findMachine };

function findMachine(command: ProgramCall): Finding {
  const { program, args } = command;
  const values = args.map(({ value }) => value);
  const isReadOnly = READ_ONLY.test(values[0] ?? "");
  if (program === "hostname" && values.some((value) => !value.startsWith("-") || /^-[bF]|^--(?:boot|file)/.test(value)))
    return "changes the name of the machine (hostname)";
  if (POWER.has(program)) return `stops or restarts the machine (${program})`;
  if (SERVICES.has(program))
    return isReadOnly || values[1] === "status" ? undefined : `changes system services (${program})`;
  if (SCHEDULES.has(program)) return isReadOnly ? undefined : `schedules commands for later (${program})`;
  if (NETWORK.has(program))
    return isReadOnly || values.length === 0 ? undefined : `changes the machine's network settings (${program})`;
  if (program === "git") return schedulesByGit(command) ? "schedules commands for later (git maintenance)" : undefined;
  if (ACCOUNTS.test(program)) return `changes user accounts (${program})`;
  if (KERNEL.has(program)) return isReadOnly ? undefined : `changes the running kernel (${program})`;
  if (INSTALLERS.test(program) && values.some((value) => INSTALLS.test(value))) {
    return `installs or removes system software (${program})`;
  }
  const isGlobal =
    values.includes("-g") || values.includes("--global") || (program === "yarn" && values[0] === "global");
  if (
    GLOBAL_PACKAGES.test(program) &&
    isGlobal &&
    values.some((value) => /^(i|install|add|link|un\w+|remove|rm)$/.test(value))
  ) {
    return `installs or removes system software (${program} -g)`;
  }
  return undefined;
}

function schedulesByGit(command: ProgramCall): boolean {
  const { verb, rest } = gitArguments(command);
  return verb === "maintenance" && rest[0]?.value === "start";
}
