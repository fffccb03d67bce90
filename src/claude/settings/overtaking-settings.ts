import { readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { follow } from "../../files/real-path.ts";
import { readSettings } from "./settings-file.ts";

type Origin = "managed" | "user" | "project";
/** A setting by which Claude Code would not ask us, or would not wait for our answer. */
export type OvertakingSetting = { file: string; origin: Origin; setting: string; effect: string };

type Place = { home: string; env: Record<string, string | undefined>; workingDir: string };

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

/** The events whose hooks decide about a call, and what that means for us. */
const DECIDING_HOOKS = [
  ["PreToolUse", "the hook may allow, deny or change a call before Plexus is asked"],
  ["PermissionRequest", "the hook answers beside Plexus, and whoever is first decides"],
] as const;

/** The setting in a file that can't be read here. */
export const UNREADABLE = "something unreadable";

type Overtaking = Pick<OvertakingSetting, "setting" | "effect">;

/** Finds what in the settings of this machine's Claude Code would silence Plexus, or decide before it. */
export function overtakingSettings(place: Place): OvertakingSetting[] {
  return filesOf(place).flatMap(({ file, origin }) => foundIn(file).map((one) => ({ file, origin, ...one })));
}

/** What can't be read here, the CLI may read: through `/proc`, a link leads elsewhere for it than for us. */
function foundIn(path: string): Overtaking[] {
  const file = readSettings(follow(path));
  if (file.state === "refused") {
    return [{ setting: UNREADABLE, effect: `it ${file.reason}, so that nobody knows what it says` }];
  }
  const settings = Settings.safeParse(file.state === "read" ? file.settings : undefined).data;
  return settings ? found(settings) : [];
}

function found({ permissions, hooks, sandbox }: z.infer<typeof Settings>): Overtaking[] {
  const { denyInsteadOfPrompting, allow, defaultMode } = permissions;
  const settings: Overtaking[] = [];
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

function filesOf({ home, env, workingDir }: Place): { file: string; origin: Origin }[] {
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

/** What an administrator has set, which no other setting lifts. */
function managedFiles(env: Place["env"]): string[] {
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
