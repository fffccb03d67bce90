import { realpathSync } from "node:fs";
import type { Supervision } from "../schema/turn.ts";

export type PermissionSettings = {
  /** What the CLI reads besides what we hand it: its `--setting-sources`. */
  sources: string;
  settings: { permissions: { ask?: string[]; deny: string[]; [mode: string]: unknown }; [key: string]: unknown };
};

const EDITS = ["Edit", "Write", "NotebookEdit"];
/** Asked about anyway, were it not for agents of the project that claim a mode in which edits are accepted. */
const DEFAULT_ASKS = [
  ...EDITS,
  ...["touch", "mkdir", "rmdir", "rm", "mv", "cp", "ln", "sed"].map((command) => `Bash(${command}:*)`),
];

/** Whatever runs a command, changes a file, reaches out, or starts something that asks no more. */
const STRICT_ASKS = [
  "Bash",
  "PowerShell",
  "Monitor",
  "REPL",
  ...EDITS,
  "WebFetch",
  "WebSearch",
  "Workflow",
  "CronCreate",
  "RemoteTrigger",
  "Artifact",
  "EnterWorktree",
  "mcp__*",
];

/** Modes in which the CLI would decide by itself, which a project's agent could name for itself. */
const NO_OTHER_MODES = { disableBypassPermissionsMode: "disable", disableAutoMode: "disable" };

/** What the CLI may do unasked; nothing that it reads can lift the deny rules for the data dir. */
export function permissionSettings(spec: {
  supervision: Supervision;
  dataDir: string;
  mcpServerNames: string[];
  allowedTools: string[];
}): PermissionSettings {
  const deny = dataDirRules(spec.dataDir);
  switch (spec.supervision) {
    case "inherit":
      return { sources: "user,project,local", settings: { permissions: { deny } } };
    case "default":
      return {
        sources: "project",
        settings: {
          disableAllHooks: true,
          permissions: { ask: asksBeside(spec.allowedTools), deny, ...NO_OTHER_MODES },
        },
      };
    case "strict": {
      const ask = [...STRICT_ASKS, ...spec.mcpServerNames.map((name) => `mcp__${name}`)];
      return {
        sources: "project",
        settings: {
          disableAllHooks: true,
          sandbox: { autoAllowBashIfSandboxed: false },
          permissions: { ask, deny, ...NO_OTHER_MODES },
        },
      };
    }
  }
}

/** What a session allows by name is left out of the ask rules, which would outrank it. */
function asksBeside(allowedTools: string[]): string[] {
  return DEFAULT_ASKS.filter((ask) => !allowedTools.some((allowed) => concerns(allowed, ask)));
}

/** Rules for edits hold for every tool that edits; one for Bash concerns the commands that it begins with. */
function concerns(allowed: string, ask: string): boolean {
  const [tool = "", pattern = "*"] = allowed.split(/[()]/);
  const [asked = "", command = ""] = ask.split(/[(:]/);
  if (EDITS.includes(asked)) return EDITS.includes(tool);
  return tool === asked && (pattern === "*" || pattern.split(/[\s:*]/)[0] === command);
}

/**
 * Two slashes make the path an absolute one; a symbolic link needs a rule for either path. What is special in a pattern
 * becomes `?`, any one character: a backslash before it is read differently for each of them.
 */
function dataDirRules(dataDir: string): string[] {
  const paths = new Set([dataDir, realPath(dataDir)]);
  return [...paths].flatMap((path) => {
    const pattern = `/${path.replaceAll(/[[\]*?\\()]/g, "?")}/**`;
    return [`Read(${pattern})`, `Edit(${pattern})`];
  });
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
