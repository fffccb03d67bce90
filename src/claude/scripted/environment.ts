import { mkdirSync } from "node:fs";
import { join } from "node:path";

type Environment = Record<string, string | undefined>;

/** What a program needs to run at all, and nothing that steers claude or pays for it. */
const KEPT = [
  "PATH",
  "LANG",
  "LC_ALL",
  "SHELL",
  "USER",
  "LOGNAME",
  "TERM",
  "LD_LIBRARY_PATH",
  "NIX_LD",
  "NIX_LD_LIBRARY_PATH",
];

/** An environment in which claude talks to the scripted model alone, away from all settings of its user. */
export function scriptedEnvironment(environment: Environment, directory: string, modelUrl: string): Environment {
  const place = (name: string) => {
    const path = join(directory, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const [home, tmp] = [place("home"), place("tmp")];
  return {
    ...Object.fromEntries(KEPT.map((name) => [name, environment[name]])),
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    TMPDIR: tmp,
    CLAUDE_CODE_TMPDIR: tmp,
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "none-is-needed",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
    DISABLE_AUTOUPDATER: "1",
  };
}
