import { join } from "node:path";

/** Returns the default data dir. */
export function defaultDataDir(home: string, env: Record<string, string | undefined>): string {
  return join(env["XDG_STATE_HOME"] || join(home, ".local", "state"), "plexus");
}
