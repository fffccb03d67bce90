import type { Config } from "../../config.ts";
import { shellLine } from "../terminal/shell.ts";

/** How another terminal calls a command of this very program, on this very data dir. */
export function selfCommand(config: Config, ...words: string[]): string {
  const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
  const dataDir = config.isDefaultDataDir ? [] : ["--data-dir", config.dataDir];
  return shellLine([...program, ...words, ...dataDir]);
}
