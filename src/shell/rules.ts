import type { SimpleCommand } from "./reading.ts";
import { isShell, programOf, scriptOf } from "./wrappers.ts";

/** A rule says what is dangerous about one command, or nothing. */
export type Rule = { rule: string; test: (command: SimpleCommand) => string | undefined };

const INTERPRETERS = /^(python[\d.]*|node|deno|bun|perl|ruby|php|osascript|pwsh)$/;
const MACHINE = [
  "shutdown",
  "reboot",
  "halt",
  "poweroff",
  "init",
  "telinit",
  "systemctl",
  "service",
  "launchctl",
  "crontab",
];
const NETWORK = ["iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "route", "ifconfig"];
const DISKS = /^(mkfs(\..+)?|fdisk|sfdisk|parted|wipefs|mkswap|losetup|mount|umount|swapoff)$/;
const PUBLISH: Record<string, string[]> = {
  npm: ["publish", "unpublish", "deprecate"],
  pnpm: ["publish"],
  yarn: ["publish"],
  bun: ["publish"],
  cargo: ["publish", "yank"],
  gem: ["push", "yank"],
  twine: ["upload"],
  docker: ["push"],
  podman: ["push"],
  helm: ["push", "uninstall"],
  terraform: ["apply", "destroy"],
  pulumi: ["up", "destroy"],
  kubectl: ["delete", "apply", "drain"],
};
const SECRETS =
  /(^|\/)(\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker\/config\.json|\.netrc|\.npmrc|\.pypirc|\.git-credentials|operator-token|id_(rsa|ed25519|ecdsa))(\/|$)|(^|\/)\.env(\.\w+)?$|^\/etc\/(shadow|sudoers)|^\/proc\/[^/]+\/environ$/;
const LOADERS =
  /^(LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|PATH|BASH_ENV|ENV|PROMPT_COMMAND|GIT_SSH_COMMAND|NODE_OPTIONS|PYTHONSTARTUP)$/;

/** What counts as dangerous; `docs/dangers.md` says it to people. */
export const RULES: Rule[] = [
  {
    rule: "privileges",
    test: (c) => when(is(c, "sudo", "doas", "su", "pkexec", "runuser"), "runs with other rights (%)", c),
  },
  { rule: "delete", test: deletes },
  {
    rule: "disk",
    test: (c) => when(DISKS.test(programOf(c)) || writesDevice(c), "changes a disk or what is mounted (%)", c),
  },
  { rule: "fed-shell", test: runsWhatItIsFed },
  { rule: "unknown-program", test: runsTheUnknown },
  { rule: "git", test: losesHistory },
  { rule: "permissions", test: opensPermissions },
  { rule: "processes", test: (c) => when(is(c, "pkill", "killall"), "ends processes by name (%)", c) },
  { rule: "machine", test: (c) => when(is(c, ...MACHINE, ...NETWORK), "changes the machine itself (%)", c) },
  { rule: "publish", test: publishes },
  { rule: "secrets", test: touchesSecrets },
  { rule: "loader", test: changesWhatRuns },
];

function deletes(command: SimpleCommand): string | undefined {
  const options = optionsOf(command);
  if (is(command, "rm") && options.some((option) => /^-[a-zA-Z]*[rRf]|^--(recursive|force)$/.test(option))) {
    return "removes files without asking, or whole directories (rm)";
  }
  if (is(command, "shred")) return "destroys files (shred)";
  if (is(command, "find") && options.includes("-delete")) return "removes whatever it finds (find -delete)";
  if (is(command, "rsync") && options.some((option) => option.startsWith("--delete")))
    return "removes files (rsync --delete)";
  return undefined;
}

function writesDevice(command: SimpleCommand): boolean {
  const isDevice = (value: string) => /^(of=)?\/dev\/(sd|hd|vd|nvme|disk|mapper|mem)/.test(value);
  return [...command.words, ...command.redirects.flatMap(({ target }) => target ?? [])].some(({ value }) =>
    isDevice(value),
  );
}

/** `curl … | sh`, `bash <(curl …)`, `sh -c "$(…)"`: nobody has seen what will run. */
function runsWhatItIsFed(command: SimpleCommand): string | undefined {
  const program = programOf(command);
  const isShellLike = isShell(program) || INTERPRETERS.test(program);
  const plain = command.words.slice(1).filter(({ value }) => !value.startsWith("-") || value === "-");
  const readsInput = command.isFed && (plain.length === 0 || plain[0]?.value === "-");
  if (isShellLike && readsInput && !scriptOf(command)) return `runs what it is fed through a pipe (${program})`;
  const isSource = program === "source" || program === ".";
  if ((isShellLike || isSource) && plain.some(({ text }) => /[<>]\(|\$\(|`/.test(text))) {
    return `runs what another command prints (${program})`;
  }
  return undefined;
}

function runsTheUnknown(command: SimpleCommand): string | undefined {
  if (command.words[0]?.isDynamic) return `runs a program that is not known before (${command.words[0].text})`;
  if (scriptOf(command)?.isDynamic) return `runs a text that is not known before (${programOf(command)})`;
  return undefined;
}

function losesHistory(command: SimpleCommand): string | undefined {
  if (!is(command, "git")) return undefined;
  const options = optionsOf(command);
  const verbAt = gitVerbAt(command);
  const verb = command.words[verbAt]?.value;
  const rest = command.words.slice(verbAt + 1).map(({ value }) => value);
  const has = (...names: string[]) => options.some((option) => names.includes(option));
  if (verb === "push") {
    const isForced =
      has("-f", "--force", "--mirror", "--delete", "-d", "--prune") || options.some((o) => o.startsWith("--force"));
    return isForced || rest.some((word) => word.startsWith("+") || word.startsWith(":"))
      ? "overwrites or removes what others have (git push)"
      : undefined;
  }
  const isLoss =
    (verb === "reset" && has("--hard", "--merge")) ||
    (verb === "clean" && options.some((option) => /^-[a-zA-Z]*f|^--force$/.test(option))) ||
    (verb === "branch" && options.some((option) => /^-[a-zA-Z]*[DM]/.test(option))) ||
    (verb === "checkout" && (has("-f", "--force") || rest.includes("--") || rest.includes("."))) ||
    (verb === "restore" && !has("--staged", "-S")) ||
    (verb === "stash" && ["drop", "clear"].includes(rest[0] ?? "")) ||
    ["filter-branch", "filter-repo", "update-ref", "reflog", "gc"].includes(verb ?? "");
  return isLoss ? `loses work or history (git ${verb})` : undefined;
}

function gitVerbAt({ words }: SimpleCommand): number {
  for (let at = 1; at < words.length; at++) {
    const value = words[at]?.value ?? "";
    if (["-C", "-c", "--git-dir", "--work-tree"].includes(value)) at++;
    else if (!value.startsWith("-")) return at;
  }
  return words.length;
}

function opensPermissions(command: SimpleCommand): string | undefined {
  if (!is(command, "chmod", "chown", "chgrp", "setfacl")) return undefined;
  const isRecursive = optionsOf(command).some((option) => /^-[a-zA-Z]*R|^--recursive$/.test(option));
  const isOpen = command.words.some(({ value }) =>
    /^[0-7]?[0-7]{2}[2367]$|^[2467][0-7]{3}$|[oa]?\+[rx]*[ws]/.test(value),
  );
  return isRecursive || (is(command, "chmod") && isOpen)
    ? `changes who may do what (${programOf(command)})`
    : undefined;
}

function publishes(command: SimpleCommand): string | undefined {
  const verbs = PUBLISH[programOf(command)];
  const verb = command.words.slice(1).find(({ value }) => verbs?.includes(value))?.value;
  return verb && `changes what is outside of this machine (${programOf(command)} ${verb})`;
}

function touchesSecrets({ words, redirects }: SimpleCommand): string | undefined {
  const named = [...words, ...redirects.flatMap(({ target }) => target ?? [])];
  const found = named.find(({ value }) => SECRETS.test(value.replace(/^@|^[\w-]+=@?/, "")));
  return found && `touches credentials (${found.value})`;
}

function changesWhatRuns({ assignments, words }: SimpleCommand): string | undefined {
  const exported = words.map(({ value }) => /^(\w+)=/.exec(value)?.[1] ?? "");
  const name = [...assignments.map((one) => one.name), ...exported].find((one) => LOADERS.test(one));
  return name && `changes which code other programs load (${name})`;
}

function is(command: SimpleCommand, ...programs: string[]): boolean {
  return programs.includes(programOf(command));
}

function when(isSo: boolean, message: string, command: SimpleCommand): string | undefined {
  return isSo ? message.replace("%", programOf(command)) : undefined;
}

function optionsOf({ words }: SimpleCommand): string[] {
  return words.slice(1).flatMap(({ value }) => (value.startsWith("-") ? [value] : []));
}
