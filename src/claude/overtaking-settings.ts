import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

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
});

/** Finds what in the settings of this machine's Claude Code would silence Plexus, or decide before it. */
export function overtakingSettings(place: Place): OvertakingSetting[] {
  return filesOf(place).flatMap(({ file, origin }) => {
    const settings = read(file);
    return settings ? found(settings).map((one) => ({ file, origin, ...one })) : [];
  });
}

function found({ permissions, hooks }: z.infer<typeof Settings>): Pick<OvertakingSetting, "setting" | "effect">[] {
  const { denyInsteadOfPrompting, allow, defaultMode } = permissions;
  const settings: Pick<OvertakingSetting, "setting" | "effect">[] = [];
  if (denyInsteadOfPrompting === true) {
    const effect = "Claude Code denies every call by itself, and Plexus is never asked";
    settings.push({ setting: "permissions.denyInsteadOfPrompting", effect });
  }
  if (Array.isArray(hooks["PermissionRequest"]) && hooks["PermissionRequest"].length > 0) {
    const effect = "the hook answers beside Plexus, and whoever is first decides";
    settings.push({ setting: "hooks.PermissionRequest", effect });
  }
  if (Array.isArray(allow) && allow.length > 0) {
    settings.push({ setting: "permissions.allow", effect: "what it allows runs without asking Plexus" });
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

/** What can't be read is the CLI's to complain of. */
function read(file: string): z.infer<typeof Settings> | undefined {
  try {
    return Settings.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}
