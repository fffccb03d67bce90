import { realpathSync } from "node:fs";
import type { Config } from "../../config.ts";
import { shellLine } from "../terminal/shell.ts";

/** From source, in the directory of the sources; npm's own lines would stand before what a command prints. */
const FROM_SOURCE = ["npm", "run", "-s", "plexus", "--"];
const NAME = "plexus";

/** What a person types in another terminal to call a command of this very program, on this very data dir. */
export function selfCommand(config: Config, ...words: string[]): string {
  const dataDir = config.isDefaultDataDir ? [] : ["--data-dir", config.dataDir];
  return shellLine([...programName(config), ...words, ...dataDir]);
}

function programName({ path }: Config): string[] {
  if (!Bun.isStandaloneExecutable) return FROM_SOURCE;
  const found = Bun.which(NAME, { PATH: path });
  return [found !== null && realpathSync(found) === realpathSync(process.execPath) ? NAME : process.execPath];
}
