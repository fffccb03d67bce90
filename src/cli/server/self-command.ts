import { realpathSync } from "node:fs";
import type { Config } from "../../config.ts";
import { shellLine } from "../terminal/shell.ts";

/** The command from source, in the directory of the sources; `-s` keeps npm's own lines out of the output. */
const FROM_SOURCE = ["npm", "run", "-s", "plexus", "--"];
const NAME = "plexus";

/** The command line with which a person calls this same program, on the same data dir, from another terminal. */
export function selfCommand(config: Config, ...words: string[]): string {
  const dataDir = config.isDefaultDataDir ? [] : ["--data-dir", config.dataDir];
  return shellLine([...programName(config), ...words, ...dataDir]);
}

function programName({ path }: Config): string[] {
  if (!Bun.isStandaloneExecutable) return FROM_SOURCE;
  const found = Bun.which(NAME, { PATH: path });
  return [found !== null && realpathSync(found) === realpathSync(process.execPath) ? NAME : process.execPath];
}
