import { join } from "node:path";
import { defaultDataDir } from "../../contract/data-dir.ts";
import { CLIENTS, clientFile } from "./client-files.ts";
import { realPath } from "./real-path.ts";

type Where = { dataDir: string; home: string; env: Record<string, string | undefined> };

/** What steers the CLI or logs it in, in its own directory; all else there it may need to read again. */
const OF_CLAUDE = [
  "settings.json",
  "settings.local.json",
  ".credentials.json",
  ".config.json",
  ".claude.json",
  "backups",
];

/** What no child may read or change, by absolute path: a directory, a file, and the copies kept beside it. */
export function privatePaths(where: Where): string[] {
  const { home, env } = where;
  const configDirs = [env["CLAUDE_CONFIG_DIR"], env["CLAUDE_SECURESTORAGE_CONFIG_DIR"], join(home, ".claude")];
  const ofClaude = configDirs.flatMap((dir) => (dir ? OF_CLAUDE.map((name) => join(dir, name)) : []));
  return distinct([...tokenPaths(where), ...ofClaude]);
}

/**
 * Where tokens of Plexus lie: its data dir, and what `plexus connect` writes. Whoever connected a client may have had
 * other variables than the server has, so that the usual places count beside the chosen ones.
 */
export function tokenPaths({ dataDir, home, env }: Where): string[] {
  const files = [env, {}].flatMap((variables) => [
    defaultDataDir(home, variables),
    ...CLIENTS.map((name) => clientFile(name, { home, env: variables })),
  ]);
  return distinct([dataDir, ...files]);
}

/** Each as it is written, and as it really is: a rule on a link says nothing of what the link points to. */
function distinct(paths: string[]): string[] {
  return [...new Set(paths.flatMap((path) => [path, realPath(path)]))];
}
