import type { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { clientCommand } from "../../server/settings.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";

const HELP = `
Keys: a allow, A allow and remember, d deny, e edit the input, 1-9 and Enter answer a question, s next, j and k move,
/ filter, b group, Tab sessions (Enter follows one), ? help, q quit. A dangerous request needs a second press.`;

export function watchCommand(terminal: Terminal): Command {
  return clientCommand(
    "watch",
    "show the requests that need approval as they come, and decide each with a key; and the sessions",
  )
    .addHelpText("after", HELP)
    .action(async (options: Flags) => {
      const config = readConfig(options);
      if (!terminal.isInteractive || config.environment["TERM"] === "dumb") {
        throw new CommandFailed("watch needs a terminal: elsewhere, `plexus pending --json` lists pending requests.");
      }
      const { watch } = await import("../../watch/watch.ts");
      await watch(config, terminal);
    });
}
