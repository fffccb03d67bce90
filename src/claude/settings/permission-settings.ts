import type { Supervision } from "../../contract/sessions/supervision.ts";

export type PermissionSettings = {
  /** What the CLI reads besides what we hand it: its `--setting-sources`. */
  sources: string;
  settings: { permissions: { ask?: string[]; deny: string[]; [mode: string]: unknown }; [key: string]: unknown };
};

type Sealing = {
  supervision: Supervision;
  /** Whether the child has our permission tool to ask. */
  canAsk: boolean;
  /** What the child may neither read nor change. */
  privatePaths: string[];
};

/** Tools that reach other sessions, the approver's among them, where what they send reads like the system's own word. */
const OTHER_SESSIONS = ["Send*", "ListAgents", "ListPeers", "Team*", "RemoteTrigger"];

/** Where a child goes by these, relative paths no longer mean what they say. */
const OTHER_DIRECTORIES = ["EnterWorktree", "ExitWorktree"];

/** Modes in which the CLI would decide by itself. */
const NO_OTHER_MODES = { disableBypassPermissionsMode: "disable", disableAutoMode: "disable" };

/**
 * What the CLI may do unasked: in `strict` and `default` nothing at all. An ask rule for everything outranks every allow,
 * and nobody's settings but these are read. Nothing that the CLI reads can lift the deny rules.
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
 * Two slashes make the path an absolute one. What is special in a pattern becomes `?`, any one character: a backslash
 * before it is read differently for each of them. Further words behind a dot are a copy, such as `connect` keeps.
 */
function denyRules(paths: string[]): string[] {
  return paths.flatMap((path) => {
    const literal = `/${path.replaceAll(/[[\]*?\\()]/g, "?")}`;
    return [literal, `${literal}/**`, `${literal}.*`].flatMap((pattern) => [`Read(${pattern})`, `Edit(${pattern})`]);
  });
}
