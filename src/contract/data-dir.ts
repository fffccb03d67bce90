import { join } from "node:path";

/** Where Plexus keeps what lasts, unless told otherwise. */
export function defaultDataDir(home: string, env: Record<string, string | undefined>): string {
  return join(env["XDG_STATE_HOME"] || join(home, ".local", "state"), "plexus");
}
