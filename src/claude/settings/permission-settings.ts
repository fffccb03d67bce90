import type { Supervision } from "../../contract/sessions/supervision.ts";

type PermissionSettings = {
  /** The CLI's `--setting-sources`: what it reads besides the settings given here. */
  sources: string;
  settings: { permissions: { ask?: string[]; deny: string[]; [mode: string]: unknown }; [key: string]: unknown };
};

type Sealing = {
  supervision: Supervision;
  /** Whether the child has the permission tool of Plexus. */
  canAsk: boolean;
  /** Files and directories that the child may neither read nor change. */
  privatePaths: string[];
};

/** Tools that reach other sessions, even the approver's, where their messages look like the system's own. */
const OTHER_SESSIONS = ["Send*", "ListAgents", "ListPeers", "Team*", "RemoteTrigger"];

/** Tools that change the working directory, and with it what relative paths mean. */
const OTHER_DIRECTORIES = ["EnterWorktree", "ExitWorktree"];

/** Switches off the modes in which the CLI decides by itself. */
const NO_OTHER_MODES = { disableBypassPermissionsMode: "disable", disableAutoMode: "disable" };

/**
 * The CLI's permission settings. In `strict` and `default` nothing runs without asking: the ask rule for everything
 * outranks every allow rule, and no other settings are read. Nothing that the CLI reads can lift the deny rules.
 */
export function permissionSettings({ supervision, canAsk, privatePaths }: Sealing): PermissionSettings {
  const deny = denyRules(privatePaths);
  if (supervision === "inherit") {
    return { sources: "user,project,local", settings: { permissions: { deny: [...deny, ...OTHER_SESSIONS] } } };
  }
  return {
    sources: "",
    settings: {
      disableAllHooks: true,
      sandbox: { autoAllowBashIfSandboxed: false },
      permissions: {
        ...(canAsk && { ask: ["*"] }),
        deny: [...deny, ...OTHER_SESSIONS, ...OTHER_DIRECTORIES],
        ...NO_OTHER_MODES,
      },
    },
  };
}

/**
 * Two slashes make a path absolute. Special characters become `?`, which matches any one character, because the CLI
 * treats backslashes differently for each of them. `.*` covers copies, such as `connect` keeps.
 */
function denyRules(paths: string[]): string[] {
  return paths.flatMap((path) => {
    const literal = `/${path.replaceAll(/[[\]*?\\()]/g, "?")}`;
    return [literal, `${literal}/**`, `${literal}.*`].flatMap((pattern) => [`Read(${pattern})`, `Edit(${pattern})`]);
  });
}
