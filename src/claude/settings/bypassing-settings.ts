import { readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { follow } from "../../files/real-path.ts";
import { readSettings } from "./settings-file.ts";

type Origin = "managed" | "user" | "project";
/** A setting with which Claude Code would not ask Plexus, or would not wait for its answer. */
export type BypassingSetting = { file: string; origin: Origin; setting: string; effect: string };

type Machine = { home: string; env: Record<string, string | undefined>; workingDir: string };

const MANAGED_DIRS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "/Library/Application Support/ClaudeCode",
  linux: "/etc/claude-code",
};

const Settings = z.looseObject({
  permissions: z
    .looseObject({
      denyInsteadOfPrompting: z.unknown().optional(),
      allow: z.unknown().optional(),
      defaultMode: z.unknown().optional(),
    })
    .catch({}),
  hooks: z.record(z.string(), z.unknown()).catch({}),
  sandbox: z.looseObject({ enabled: z.unknown(), autoAllowBashIfSandboxed: z.unknown() }).partial().catch({}),
});

/** The events whose hooks decide about a call, and what that means for Plexus. */
const DECIDING_HOOKS = [
  ["PreToolUse", "the hook may allow, deny or change a call before Plexus is asked"],
  ["PermissionRequest", "both the hook and Plexus answer, and the first answer decides"],
] as const;

/** The name of the setting if its file can't be read. */
export const UNREADABLE = "something unreadable";

type Bypassing = Pick<BypassingSetting, "setting" | "effect">;

/** Finds settings of this machine's Claude Code with which it would not ask Plexus, or would decide before Plexus. */
export function bypassingSettings(machine: Machine): BypassingSetting[] {
  return filesOf(machine).flatMap(({ file, origin }) => foundIn(file).map((one) => ({ file, origin, ...one })));
}

/** A file that Plexus can't read counts as well, since the CLI may read it: links through `/proc` differ by process. */
function foundIn(path: string): Bypassing[] {
  const file = readSettings(follow(path));
  if (file.state === "refused") {
    return [{ setting: UNREADABLE, effect: `it ${file.reason}, so Plexus can't tell what it sets` }];
  }
  const settings = Settings.safeParse(file.state === "read" ? file.settings : undefined).data;
  return settings ? found(settings) : [];
}

function found({ permissions, hooks, sandbox }: z.infer<typeof Settings>): Bypassing[] {
  const { denyInsteadOfPrompting, allow, defaultMode } = permissions;
  const settings: Bypassing[] = [];
  if (denyInsteadOfPrompting === true) {
    const effect = "Claude Code denies every call by itself, and Plexus is never asked";
    settings.push({ setting: "permissions.denyInsteadOfPrompting", effect });
  }
  for (const [event, effect] of DECIDING_HOOKS) {
    const installed = hooks[event];
    if (Array.isArray(installed) && installed.length > 0) settings.push({ setting: `hooks.${event}`, effect });
  }
  if (Array.isArray(allow) && allow.length > 0) {
    settings.push({ setting: "permissions.allow", effect: "what it allows runs without asking Plexus" });
  }
  if (sandbox.enabled === true && sandbox.autoAllowBashIfSandboxed !== false) {
    const effect = "commands in the sandbox run without asking Plexus";
    settings.push({ setting: "sandbox.autoAllowBashIfSandboxed", effect });
  }
  if (typeof defaultMode === "string" && !["default", "plan"].includes(defaultMode)) {
    const effect = "calls run that Plexus is not asked about";
    settings.push({ setting: `permissions.defaultMode "${defaultMode}"`, effect });
  }
  return settings;
}

function filesOf({ home, env, workingDir }: Machine): { file: string; origin: Origin }[] {
  const configDir = env["CLAUDE_CONFIG_DIR"] || join(home, ".claude");
  const project = join(workingDir, ".claude");
  return [
    ...managedFiles(env).map((file) => ({ file, origin: "managed" as const })),
    { file: join(configDir, "settings.json"), origin: "user" as const },
    ...["settings.json", "settings.local.json"].map((name) => ({
      file: join(project, name),
      origin: "project" as const,
    })),
  ];
}

/** The administrator's settings, which no other setting overrides. */
function managedFiles(env: Machine["env"]): string[] {
  const named = env["CLAUDE_CODE_MANAGED_SETTINGS_PATH"];
  if (named) return [named];
  const dir = MANAGED_DIRS[process.platform];
  if (!dir) return [];
  return [join(dir, "managed-settings.json"), ...jsonFilesIn(join(dir, "managed-settings.d"))];
}

function jsonFilesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith(".json"))
      .map((name) => join(dir, name));
  } catch {
    return [];
  }
}
