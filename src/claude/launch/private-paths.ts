import { join } from "node:path";
import { defaultDataDir } from "../../contract/data-dir.ts";
import { CLIENTS, clientFile } from "./client-files.ts";
import { realPath } from "./real-path.ts";

type Where = { dataDir: string; home: string; env: Record<string, string | undefined> };

/** Files in the CLI's directory with settings or logins. A child may need to read the others. */
const OF_CLAUDE = [
  "settings.json",
  "settings.local.json",
  ".credentials.json",
  ".config.json",
  ".claude.json",
  "backups",
];

/** Absolute paths that no child may read or change; copies beside a file count too. */
export function privatePaths(where: Where): string[] {
  const { home, env } = where;
  const configDirs = [env["CLAUDE_CONFIG_DIR"], env["CLAUDE_SECURESTORAGE_CONFIG_DIR"], join(home, ".claude")];
  const ofClaude = configDirs.flatMap((dir) => (dir ? OF_CLAUDE.map((name) => join(dir, name)) : []));
  return distinct([...tokenPaths(where), ...ofClaude]);
}

/**
 * The data dir, and the files in which `plexus connect` writes tokens. `connect` may have run with other variables than
 * the server, so the default places count too.
 */
export function tokenPaths({ dataDir, home, env }: Where): string[] {
  const files = [env, {}].flatMap((variables) => [
    defaultDataDir(home, variables),
    ...CLIENTS.map((name) => clientFile(name, { home, env: variables })),
  ]);
  return distinct([dataDir, ...files]);
}

/** Each path as written and with its links resolved: a rule on a link does not cover the target. */
function distinct(paths: string[]): string[] {
  return [...new Set(paths.flatMap((path) => [path, realPath(path)]))];
}
