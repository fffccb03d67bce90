import type { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { startDemo } from "../../../contract/routes/demo.ts";
import { duration } from "../../../contract/text/duration.ts";
import { ensureServer } from "../../server/detached-server.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { watchTurn } from "../../watch/turn/turn.ts";

const HELP = `
A child asks you once for approval to write a file: your claude, driven by a model that is built in. No key is needed,
nothing is paid, and nothing of yours is read or changed. Decide here with the keys of \`plexus watch\`, or on the page.
Afterwards the session is removed; your decision stays in the history.
Exit codes: 0 done, 1 failed, 5 cancelled or left; see \`plexus --help\` for the others.`;

type Options = Flags & { json?: true };

export function demoCommand(terminal: Terminal): Command {
  return clientCommand("demo", "try a request: a child asks you once for approval to write a file")
    .option("--json", "print one JSON object for each event, one a line")
    .addHelpText("after", HELP)
    .action(async ({ json, ...flags }: Options) => {
      const config = readConfig(flags);
      if (!config.url) await ensureServer(config, (line) => terminal.err(`${line}\n`), new AbortController().signal);
      const api = await openApi(config);
      const started = await api.call(startDemo);
      const { name, kept_secs } = started;
      await watchTurn({ config, api, name, start: async () => started, json: json === true, terminal });
      if (!json)
        terminal.err(`Session "${name}" is removed in ${duration(kept_secs)}; your decision stays in the history.\n`);
    });
}
