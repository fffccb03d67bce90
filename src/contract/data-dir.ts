import { join } from "node:path";

/** Where Plexus keeps its data, unless configured otherwise. */
export function defaultDataDir(home: string, env: Record<string, string | undefined>): string {
  return join(env["XDG_STATE_HOME"] || join(home, ".local", "state"), "plexus");
}
